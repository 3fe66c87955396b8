import { afterEach, expect, test, vi } from 'vitest';
import { countStreamed } from './streamed-bytes.ts';

const mebibyte = 1024 * 1024;

afterEach(() => vi.unstubAllGlobals());

test('young objects are collected once for every 16 MiB', () => {
  const gc = vi.fn<(options: object) => void>();
  vi.stubGlobal('gc', gc);
  // What others streamed in this process counts, too.
  while (gc.mock.calls.length === 0) countStreamed(mebibyte);
  for (let n = 0; n < 40; n += 1) countStreamed(mebibyte);
  expect(gc).toHaveBeenCalledTimes(3);
  expect(gc).toHaveBeenLastCalledWith({ type: 'minor', execution: 'sync' });
});

test('without a way to collect nothing happens', () => {
  vi.stubGlobal('gc', undefined);
  expect(() => countStreamed(100 * mebibyte)).not.toThrow();
});
