import { expect, test } from 'vitest';
import { endsSoon, expiryOf } from './signed-url.ts';

test('reads when a URL ends', () => {
  const url = 'http://s/k?X-Amz-Date=20260101T000000Z&X-Amz-Expires=900';
  const end = Date.UTC(2026, 0, 1, 0, 15);
  expect(expiryOf(url)).toBe(end);
  expect(endsSoon(url, end - 20_000)).toBe(false);
  expect(endsSoon(url, end - 10_000)).toBe(true);
  expect(endsSoon('http://s/k')).toBe(true);
});
