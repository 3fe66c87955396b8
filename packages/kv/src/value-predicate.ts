import { ownBytes } from '@svc/encoding';
import type { KvCondition, KvPredicate } from './store.ts';

/** The predicate of drivers that compare values. */
class ValuePredicate {
  readonly value: Buffer;

  constructor(value: Buffer) {
    this.value = value;
  }
}

/** It is kept for as long as the caller likes, and must not change with the value. */
export function valuePredicate(value: Uint8Array): KvPredicate {
  return new ValuePredicate(ownBytes(value)) as unknown as KvPredicate;
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
