import type { Condition } from '../model.ts';
import { parseIp, parseIpRange, plainIp, rangeContains } from './ip-address.ts';
import { matcherOf } from './wildcard.ts';

/** What a condition may ask about: only the address of the caller. Parsed when a condition first asks. */
export class ConditionContext {
  /** Undefined when the request has no peer address. */
  readonly sourceIp: string | undefined;
  #bytes: Uint8Array | undefined;

  constructor(clientIp: string) {
    this.sourceIp = clientIp === '' ? undefined : plainIp(clientIp);
  }

  /** Undefined when there is no address, or none that can be read. */
  get sourceIpBytes(): Uint8Array | undefined {
    if (this.#bytes === undefined && this.sourceIp !== undefined) this.#bytes = parseIp(this.sourceIp);
    return this.#bytes;
  }
}

export interface CompiledCondition {
  /** It compares addresses, so it cannot be judged when the caller's cannot be read. */
  readonly needsAddress: boolean;
  readonly holds: (context: ConditionContext) => boolean;
}

/** Throws a `RangeError` naming the flaw of a condition that cannot be evaluated. */
export function compileCondition(condition: Condition): CompiledCondition {
  const checks: ((context: ConditionContext) => boolean)[] = [];
  let needsAddress = false;
  for (const [name, fields] of Object.entries(condition)) {
    const operator = operators[name];
    if (operator === undefined) {
      throw new RangeError(
        `unknown condition operator "${name}"; known: ${Object.keys(operators).join(', ')}`,
      );
    }
    for (const [field, values] of Object.entries(fields)) {
      if (field === '') throw new RangeError(`condition operator "${name}" has an empty field name`);
      const anyMatches = operator.compile(values);
      const isSourceIp = field === 'SourceIp';
      if (isSourceIp && operator.needsAddress) needsAddress = true;
      checks.push(
        (context) => isSourceIp && context.sourceIp !== undefined && anyMatches(context) !== operator.negated,
      );
    }
  }
  return { needsAddress, holds: (context) => checks.every((check) => check(context)) };
}

interface Operator {
  readonly negated: boolean;
  readonly needsAddress: boolean;
  readonly compile: (values: readonly string[]) => (context: ConditionContext) => boolean;
}

const operators: Readonly<Record<string, Operator>> = {
  IpAddress: { negated: false, needsAddress: true, compile: anyIpRange },
  NotIpAddress: { negated: true, needsAddress: true, compile: anyIpRange },
  StringLike: { negated: false, needsAddress: false, compile: anyPattern },
  StringNotLike: { negated: true, needsAddress: false, compile: anyPattern },
};

function anyIpRange(values: readonly string[]): (context: ConditionContext) => boolean {
  const ranges = values.map((value) => {
    const range = parseIpRange(value);
    if (range === undefined) throw new RangeError(`"${value}" is not an IP address or CIDR block`);
    return range;
  });
  return ({ sourceIpBytes: bytes }) =>
    bytes !== undefined && ranges.some((range) => rangeContains(range, bytes));
}

function anyPattern(values: readonly string[]): (context: ConditionContext) => boolean {
  const matchers = values.map(matcherOf);
  return ({ sourceIp = '' }) => matchers.some((matches) => matches(sourceIp));
}
