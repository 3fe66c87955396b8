import { expect, test, vi } from 'vitest';
import { InlineCalls } from './inline-calls.ts';

test('calls leave the event loop when they are slow on average, and come back', () => {
  let now = 1000;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  try {
    const calls = new InlineCalls();
    const take = (ms: number): boolean => {
      const began = calls.begin();
      if (began === undefined) return false;
      now += ms;
      calls.ended(began);
      return true;
    };
    expect(take(50)).toBe(true);
    for (let n = 0; n < 20; n++) expect(take(0.01)).toBe(true);
    expect(take(4)).toBe(true);
    expect(take(4)).toBe(true);
    expect(take(4)).toBe(true);
    expect(take(4)).toBe(false);
    now += 1000;
    expect(take(0.01)).toBe(true);
    expect(take(0.01)).toBe(true);
  } finally {
    clock.mockRestore();
  }
});
