import { expect, test } from 'vitest';
import { policyCompletion } from './policy-completion.ts';

const choices = {
  action: ['fs:*', 'fs:ReadObject', 'fs:ReadBranch', 'auth:ReadUser'],
  resource: ['*', 'arn:svc:fs:::repository/lake'],
};

/** The cursor is where the bar is. */
function at(text: string) {
  const position = text.indexOf('|');
  return policyCompletion(text.replace('|', ''), position, choices);
}

test('actions and resources are offered inside their texts, those that begin so first', () => {
  expect(at('{"statement": [{"action": ["fs:R|"]}]}')?.options).toEqual(['fs:ReadObject', 'fs:ReadBranch']);
  expect(at('{\n  "action": [\n    "fs:*",\n    "read|"\n')?.options).toEqual([
    'fs:ReadObject',
    'fs:ReadBranch',
    'auth:ReadUser',
  ]);
  expect(at('{"resource": "arn|"}')?.options).toEqual(['arn:svc:fs:::repository/lake']);
  expect(at('{"resource": "|')?.options).toEqual(['*', 'arn:svc:fs:::repository/lake']);
});

test('nothing is offered elsewhere, nor what stands there already', () => {
  for (const text of [
    '{"effect": "al|"}',
    '{"act|ion": []}',
    '{"action": ["fs:*"|]}',
    '{"action": ["fs:*"], "effect": "a|"}',
    '{"action": ["x\\"|fs"]}',
    '{"action": ["nothing|"]}',
    '{"action": ["auth:ReadUser|"]}',
    '|',
  ])
    expect([text, at(text)]).toEqual([text, undefined]);
});

test('the whole text is replaced, also behind the cursor', () => {
  const text = '{"action": ["fs:Re|Branch"]}';
  const { from = 0, to = 0 } = at(text) ?? {};
  expect(text.replace('|', '').slice(from, to)).toBe('fs:ReBranch');
});
