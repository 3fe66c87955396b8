import { operations } from '@svc/contract';
import { expect, test } from 'vitest';
import { takeBodySteps } from './body-steps.ts';

const { bodySteps } = operations.createUser;

test('a body that the contract refuses beyond its schema is a 400 with the message declared there', () => {
  expect(() => takeBodySteps(bodySteps, { id: 'a%b' })).toThrow(
    expect.objectContaining({ status: 400, message: "User name cannot contain '%'" }),
  );
});

test('the permission to invite is asked for the address in lower case, and only then', () => {
  const invited = { id: 'Ann@Example.com', invite_user: true };
  expect(takeBodySteps(bodySteps, invited)).toEqual({ id: 'ann@example.com', invite_user: true });
  expect(invited.id).toBe('Ann@Example.com');
  expect(takeBodySteps(bodySteps, { id: 'Ann' })).toEqual({ id: 'Ann' });
  expect(takeBodySteps([], { id: 'A%b', invite_user: true })).toEqual({ id: 'A%b', invite_user: true });
});
