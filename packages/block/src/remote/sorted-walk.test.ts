import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { WalkedObject } from '../adapter.ts';
import { compareAsBytes, sortedWalk } from './sorted-walk.ts';

const object = (key: string): WalkedObject => ({
  uri: `https://a.example/c/${key}`,
  relativeKey: key,
  etag: `etag of ${key}`,
  size: key.length,
  lastModified: new Date(1_700_000_000_000 + key.length),
});

async function* pages(keys: readonly string[], size: number): AsyncGenerator<WalkedObject[]> {
  for (let start = 0; start < keys.length; start += size)
    yield keys.slice(start, start + size).map((key) => object(key));
}

const inBytes = (keys: readonly string[]): string[] =>
  [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

const runsLeft = async (): Promise<string[]> =>
  (await readdir(tmpdir())).filter((name) => name.startsWith('svc-walk-')).sort();

describe('a sorted walk', () => {
  it('compares as bytes do', () => {
    const texts = ['', 'a', 'a/b', 'a-b', 'ab', 'é', 'ｚ', '\ue000', '😀', '😀a', '🦆', '\uffff'];
    for (const a of texts) {
      for (const b of texts) {
        const order = Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)));
        expect(Math.sign(compareAsBytes(a, b)), `${a} ${b}`).toBe(order);
      }
    }
  });

  it('sorts in memory and through files alike, and leaves none', async () => {
    const keys = Array.from({ length: 1503 }, (_, i) => `${(i * 7919) % 1503}/😀${i % 3}`);
    const before = await runsLeft();
    for (const runSize of [100, 1000, 100_000]) {
      const found: WalkedObject[] = [];
      for await (const page of sortedWalk(pages(keys, 10), runSize)) {
        expect(page.length).toBeGreaterThan(0);
        found.push(...page);
      }
      expect(found.map(({ relativeKey }) => relativeKey)).toEqual(inBytes(keys));
      expect(found[5]).toEqual(object(found[5]?.relativeKey ?? ''));
    }
    for await (const page of sortedWalk(pages(keys, 10), 100)) {
      expect(page.length).toBeGreaterThan(0);
      break;
    }
    expect(await runsLeft()).toEqual(before);
  });
});
