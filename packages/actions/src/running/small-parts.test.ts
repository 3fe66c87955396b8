import { expect, test } from 'vitest';
import { ConditionError, evaluateCondition } from './condition.ts';
import { formatDuration, parseDuration } from './duration.ts';
import { substitute, substituteDeep } from './environment.ts';
import { ConstructionError } from './errors.ts';
import { jsonText } from './hook-event.ts';
import { HookOutput } from './hook-output.ts';

test.each([
  ['', true, false],
  ['true', true, true],
  ['false', false, false],
  ['success()', true, false],
  ['failure()', false, true],
  ['!success()', false, true],
  ['not failure()', true, false],
  ['success() || failure()', true, true],
  ['success() and failure()', false, false],
  ['always()', true, true],
  ['success() == !failure()', true, true],
  ['success() ? false : true', false, true],
  ['(1 + 2 == 3) && "a" != "b"', true, true],
  ['!!success()', true, false],
])('%s is %s after success and %s after a failure', (expression, afterSuccess, afterFailure) => {
  expect(evaluateCondition(expression, false)).toBe(afterSuccess);
  expect(evaluateCondition(expression, true)).toBe(afterFailure);
});

test.each([
  ['1 + 1', "hook 'if' expression should evaluate to a boolean"],
  ['"text"', "hook 'if' expression should evaluate to a boolean"],
  ['unknown()', 'unknown name unknown'],
  ['success', 'expected ('],
  ['success() &&', 'unexpected end of the expression'],
  ['true true', 'unexpected token true'],
  ['!1', '! needs boolean values'],
  ['a $ b', 'unexpected character " "'],
  ['('.repeat(10_000), 'the expression is nested too deep'],
])('%s is no condition', (expression, message) => {
  expect(() => evaluateCondition(expression, false)).toThrow(new ConditionError(message));
});

test.each([
  ['1m', 60_000],
  ['1h30m', 5_400_000],
  ['1.5s', 1500],
  ['300ms', 300],
  ['2µs', 0.002],
  ['0', 0],
  ['-1s', -1000],
])('%s lasts %d ms', (text, ms) => {
  expect(parseDuration(text)).toBeCloseTo(ms, 9);
});

test('what is no duration is refused', () => {
  for (const text of ['', '5', 's', '1 m', '1x', 'one'])
    expect(() => parseDuration(text)).toThrow(ConstructionError);
  expect(formatDuration(61_500)).toBe('1m1.5s');
});

const variables = { SVCACTION_VAR: 'value', HOME: '/root', SVC_SECRET: 'secret' };
const access = { enabled: true, prefix: 'SVCACTION_', variables };

test('variables with the prefix are put in, others are empty, missing ones are refused', () => {
  expect(substitute('a {{ ENV.SVCACTION_VAR }}-{{ENV.SVCACTION_VAR}} b', access)).toEqual({
    value: 'a value-value b',
    isSecret: true,
  });
  expect(substitute('{{ ENV.HOME }}', access)).toEqual({ value: '', isSecret: true });
  expect(substitute('{{ NV.X }} {{ env.Y }}', access)).toEqual({
    value: '{{ NV.X }} {{ env.Y }}',
    isSecret: false,
  });
  expect(() => substitute('{{ ENV.SVCACTION_NOPE }}', access)).toThrow(
    'SVCACTION_NOPE not found: missing env var',
  );
  expect(substitute('{{ ENV.SVCACTION_VAR }}', { ...access, enabled: false })).toEqual({
    value: '',
    isSecret: true,
  });
  expect(substitute('{{ ENV.HOME }}', { ...access, prefix: '' }).value).toBe('/root');
  const deep = { list: ['{{ ENV.SVC_SECRET }}', { k: '{{ ENV.SVCACTION_VAR }}' }], n: 1, none: null };
  expect(substituteDeep(deep, access)).toEqual({ list: ['', { k: 'value' }], n: 1, none: null });
});

test('output is kept up to its limit, and the reason of a failure always', () => {
  const output = new HookOutput(5);
  output.write('abc');
  output.write('defg');
  output.write('dropped');
  output.end('why');
  expect(output.bytes().toString()).toBe('abcde\n... output truncated\nError: why\n');
});

test('payloads are safe inside HTML', () => {
  expect(jsonText({ a: '<b>&' })).toBe(String.raw`{"a":"\u003cb\u003e\u0026"}`);
});
