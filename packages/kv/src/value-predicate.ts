import type { KvCondition, KvPredicate } from './store.ts';

/** The predicate of drivers that compare values: it holds a copy of its own of the value that was read. */
class ValuePredicate {
  readonly value: Buffer;

  constructor(value: Buffer) {
    this.value = value;
  }
}

export function valuePredicate(value: Buffer): KvPredicate {
  return new ValuePredicate(value) as unknown as KvPredicate;
}

/** The value the predicate stands for, or undefined when another kind of driver made it: it can never hold. */
export function predicateValue(predicate: KvPredicate): Buffer | undefined {
  return predicate instanceof ValuePredicate ? predicate.value : undefined;
}

export function conditionHolds(stored: Uint8Array | undefined, condition: KvCondition | 'any'): boolean {
  if (condition === 'any') return true;
  if (condition === 'absent') return stored === undefined;
  if (stored === undefined) return false;
  if (condition === 'present') return true;
  const expected = predicateValue(condition);
  return expected !== undefined && expected.equals(stored);
}

export function isEqual(stored: Uint8Array | undefined, expected: Buffer | undefined): boolean {
  if (stored === undefined || expected === undefined) return stored === expected;
  return expected.equals(stored);
}
