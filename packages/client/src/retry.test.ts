import { expect, test } from 'vitest';
import { ConnectionError } from './errors.ts';
import { mayRepeatError, mayRepeatStatus, parseRetryAfter, pause, waitAfter } from './retry.ts';

const settings = {
  attempts: 5,
  minWaitMs: 200,
  maxWaitMs: 30_000,
  jitter: false,
  maxRetryAfterMs: 60_000,
};

test('repeats everything that was turned away, and after 500 what may happen twice', () => {
  const statuses = [400, 404, 409, 412, 429, 500, 502, 503, 504];
  expect(statuses.filter((status) => mayRepeatStatus(status, true))).toEqual([429, 500, 503]);
  expect(statuses.filter((status) => mayRepeatStatus(status, false))).toEqual([429, 503]);
});

test('repeats after a broken connection what may happen twice or did not arrive', () => {
  const broken = (sent: boolean, code = 'ECONNRESET') =>
    new ConnectionError('broken', { sent, cause: Object.assign(new Error('broken'), { code }) });
  expect(mayRepeatError(broken(true), true)).toBe(true);
  expect(mayRepeatError(broken(true), false)).toBe(false);
  expect(mayRepeatError(broken(false), false)).toBe(true);
  expect(mayRepeatError(broken(false, 'CERT_HAS_EXPIRED'), true)).toBe(false);
  expect(mayRepeatError(new DOMException('cancelled', 'AbortError'), true)).toBe(false);
});

test('waits twice as long each time, or as long as the server asks', () => {
  expect([1, 2, 3, 4].map((attempt) => waitAfter(settings, attempt, undefined))).toEqual([
    200, 400, 800, 1600,
  ]);
  expect(waitAfter(settings, 20, undefined)).toBe(30_000);
  expect(waitAfter(settings, 1, '7')).toBe(7000);
  expect(waitAfter(settings, 1, 'soon')).toBe(200);
  expect(waitAfter(settings, 1, '61')).toBeUndefined();
  const waits = Array.from({ length: 50 }, () => waitAfter({ ...settings, jitter: true }, 2, undefined) ?? 0);
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(200);
  expect(Math.max(...waits)).toBeLessThanOrEqual(400);
});

test('reads Retry-After as seconds and as a date', () => {
  expect(parseRetryAfter(' 3 ', 0)).toBe(3000);
  expect(parseRetryAfter('Thu, 01 Jan 1970 00:00:10 GMT', 4000)).toBe(6000);
  expect(parseRetryAfter('Thu, 01 Jan 1970 00:00:10 GMT', 40_000)).toBe(0);
  expect(parseRetryAfter('soon', 0)).toBeUndefined();
});

test('a cancelled wait ends at once', async () => {
  const reason = new Error('cancelled');
  await expect(pause(60_000, AbortSignal.abort(reason))).rejects.toBe(reason);
  const controller = new AbortController();
  const waiting = pause(60_000, controller.signal);
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
});
