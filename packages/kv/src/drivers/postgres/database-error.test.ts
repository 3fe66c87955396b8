import { expect, test } from 'vitest';
import { databaseError } from './database-error.ts';

const sqlError = (code: string): Error => Object.assign(new Error('text'), { code });

test.each([
  [sqlError('53300'), 'slow_down', true],
  [sqlError('57014'), 'slow_down', true],
  [sqlError('40001'), 'slow_down', true],
  [sqlError('53100'), 'no_space', true],
  [sqlError('57P01'), 'unavailable', true],
  [sqlError('08006'), 'unavailable', true],
  [sqlError('25006'), 'unavailable', true],
  [sqlError('ECONNREFUSED'), 'unavailable', true],
  [new Error('Connection terminated unexpectedly'), 'unavailable', true],
  [new Error('Query read timeout'), 'unavailable', true],
  [new Error('timeout exceeded when trying to connect'), 'slow_down', true],
  [new AggregateError([new Error('refused a'), new Error('refused b')]), 'unavailable', true],
  [sqlError('42P01'), 'driver_configuration', false],
  [sqlError('28P01'), 'connect_failed', false],
])('%s is %s', (cause, kind, retryable) => {
  const error = databaseError(cause);
  expect(error).toMatchObject({ kind, retryable });
  expect(error.message.length).toBeGreaterThan('postgres: '.length);
  expect(databaseError(error)).toBe(error);
});
