import { ApiError } from '@svc/client';
import { expect, test } from 'vitest';
import { explain } from './explain.ts';

test('a refusal is explained by what refused it', () => {
  const refused = (message: string) => explain(new ApiError(403, message, { body: { message } }));
  expect(refused('cannot write to protected branch').advice).toContain('Branch protection');
  expect(refused('read-only repository').advice).toContain('takes no changes');
  expect(refused('cannot delete repository default branch')).toMatchObject({
    title: 'This is not allowed here',
    text: 'cannot delete repository default branch',
    advice: undefined,
  });
});

test('who lacks a permission is not told the number of a status', () => {
  const { title, text } = explain(new ApiError(401, 'the server answered 401', {}));
  expect(title).toBe('You lack a permission');
  expect(text).toBe('Your account may not see or change this.');
  const named = 'insufficient permissions: fs:ReadObject';
  expect(explain(new ApiError(401, named, { body: { message: named } })).text).toBe(named);
});

test('advice about branches is not given where there are none', () => {
  const missing = (message: string) => explain(new ApiError(404, message, { body: { message } }));
  expect(missing('branch not found').advice).toContain('selected branch');
  expect(missing('there is no such login: run "svcctl login" again').advice).toBeUndefined();
});
