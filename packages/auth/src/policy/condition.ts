import type { Condition } from '../model.ts';
import { parseIp, parseIpRange, plainIp, rangeContains } from './ip-address.ts';
import { compilePattern } from './wildcard.ts';

/** What a condition may ask about; only `SourceIp` exists. */
export interface ConditionContext {
  /** Undefined when the request has no peer address. */
  readonly sourceIp: SourceIp | undefined;
}

interface SourceIp {
  readonly text: string;
  /** Undefined when the text is no address. */
  readonly bytes: Uint8Array | undefined;
}

/** Parses the address once for all checks of a request. */
export function conditionContext(clientIp: string): ConditionContext {
  if (clientIp === '') return { sourceIp: undefined };
  const text = plainIp(clientIp);
  return { sourceIp: { text, bytes: parseIp(text) } };
}

/** Throws when the context cannot be judged, which denies. */
export type ConditionCheck = (context: ConditionContext) => boolean;

/** Throws a `RangeError` naming the flaw of a condition that cannot be evaluated. */
export function compileCondition(condition: Condition): ConditionCheck {
  const checks: ConditionCheck[] = [];
  for (const [operator, fields] of Object.entries(condition)) {
    const compileValues = operators[operator];
    if (compileValues === undefined) {
      throw new RangeError(
        `unknown condition operator "${operator}"; known: ${Object.keys(operators).join(', ')}`,
      );
    }
    for (const [field, values] of Object.entries(fields)) {
      if (field === '') throw new RangeError(`condition operator "${operator}" has an empty field name`);
      const holds = compileValues(values);
      checks.push(({ sourceIp }) => field === 'SourceIp' && sourceIp !== undefined && holds(sourceIp));
    }
  }
  return (context) => checks.every((check) => check(context));
}

type ValuesCheck = (source: SourceIp) => boolean;

const operators: Readonly<Record<string, (values: readonly string[]) => ValuesCheck>> = {
  IpAddress: anyIpRange,
  NotIpAddress: (values) => not(anyIpRange(values)),
  StringLike: anyPattern,
  StringNotLike: (values) => not(anyPattern(values)),
};

function anyIpRange(values: readonly string[]): ValuesCheck {
  const ranges = values.map((value) => {
    const range = parseIpRange(value);
    if (range === undefined) throw new RangeError(`"${value}" is not an IP address or CIDR block`);
    return range;
  });
  return ({ text, bytes }) => {
    if (bytes === undefined) throw new RangeError(`"${text}" is not an IP address`);
    return ranges.some((range) => rangeContains(range, bytes));
  };
}

function anyPattern(values: readonly string[]): ValuesCheck {
  const matchers = values.map(compilePattern);
  return ({ text }) => matchers.some((matches) => matches(text));
}

function not(check: ValuesCheck): ValuesCheck {
  return (source) => !check(source);
}
