import { describe, expect, it } from 'vitest';
import { LoadingCache } from './loading-cache.ts';

const settings = { enabled: true, size: 2, ttlMs: 1000, jitterMs: 0 };

/** A source whose answers come when the test says so. */
function source() {
  const asked: string[] = [];
  const pending: ((value: { v: number } | undefined) => void)[] = [];
  const load = (key: string) => {
    asked.push(key);
    return new Promise<{ v: number } | undefined>((resolve) => pending.push(resolve));
  };
  return {
    asked,
    load,
    answer: (value?: number) => pending.shift()?.(value === undefined ? undefined : { v: value }),
  };
}

/** Lets the load begin. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('loading cache', () => {
  it('merges concurrent loads and keeps the value for its lifetime', async () => {
    let now = 1;
    const { asked, load, answer } = source();
    const cache = new LoadingCache(settings, () => now, load);
    const both = [cache.get('a'), cache.get('a')];
    await turn();
    answer(1);
    expect(await Promise.all(both)).toStrictEqual([{ v: 1 }, { v: 1 }]);
    expect(cache.getAtOnce('a')).toStrictEqual({ v: 1 });
    now += 1000;
    expect(await cache.get('a')).toStrictEqual({ v: 1 });
    expect(asked).toStrictEqual(['a']);
    now += 1;
    const again = cache.get('a');
    await turn();
    answer(2);
    expect(await again).toStrictEqual({ v: 2 });
  });

  it('does not keep what was read before a change', async () => {
    const { asked, load, answer } = source();
    const cache = new LoadingCache(settings, () => 1, load);
    const early = cache.get('a');
    await turn();
    cache.drop('a');
    const late = cache.get('a');
    await turn();
    answer(1);
    answer(2);
    expect(await early).toStrictEqual({ v: 1 });
    expect(await late).toStrictEqual({ v: 2 });
    expect(cache.getAtOnce('a')).toStrictEqual({ v: 2 });
    expect(asked).toHaveLength(2);
    const third = cache.get('b');
    await turn();
    cache.clear();
    answer(3);
    await third;
    expect(cache.getAtOnce('b')).toBeUndefined();
  });

  it('keeps neither failures nor absences', async () => {
    let count = 0;
    const cache = new LoadingCache(
      settings,
      () => 1,
      () => (++count === 1 ? Promise.reject(new Error('down')) : Promise.resolve(undefined)),
    );
    await expect(cache.get('a')).rejects.toThrow('down');
    expect(await cache.get('a')).toBeUndefined();
    expect(await cache.get('a')).toBeUndefined();
    expect(count).toBe(3);
  });

  it('holds no more than its size, and nothing when switched off', async () => {
    const load = (key: string) => Promise.resolve({ key });
    const cache = new LoadingCache(settings, () => 1, load);
    for (const key of ['a', 'b', 'c']) await cache.get(key);
    expect(cache.getAtOnce('a')).toBeUndefined();
    expect(cache.getAtOnce('c')).toBeDefined();
    const off = new LoadingCache({ ...settings, enabled: false }, () => 1, load);
    await off.get('a');
    expect(off.getAtOnce('a')).toBeUndefined();
  });

  it('spreads lifetimes by the jitter', async () => {
    let now = 1;
    const cache = new LoadingCache(
      { enabled: true, size: 500, ttlMs: 1000, jitterMs: 1000 },
      () => now,
      (key) => Promise.resolve({ key }),
    );
    const keys = Array.from({ length: 500 }, (_, index) => `k${index}`);
    for (const key of keys) await cache.get(key);
    now += 1500;
    const alive = keys.filter((key) => cache.getAtOnce(key) !== undefined).length;
    expect(alive).toBeGreaterThan(100);
    expect(alive).toBeLessThan(400);
    now += 501;
    expect(keys.filter((key) => cache.getAtOnce(key) !== undefined)).toHaveLength(0);
  });
});
