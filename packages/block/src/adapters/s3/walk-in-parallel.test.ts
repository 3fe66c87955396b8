import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { refuse, withStub, type Seen } from '../../../test/s3-stub.ts';
import type { BlockAdapter, WalkOptions } from '../../adapter.ts';

const bytesOf = (text: string): Buffer => Buffer.from(text);
const inOrder = (keys: readonly string[]): string[] =>
  keys.toSorted((a, b) => Buffer.compare(bytesOf(a), bytesOf(b)));

const pageSize = 100;

/** Lists keys as S3 does, in small pages. */
function listing(sorted: readonly string[], { url }: Pick<Seen, 'url'>): string {
  const query = new URL(url, 'http://stub').searchParams;
  const prefix = query.get('prefix') ?? '';
  const after = query.get('continuation-token') ?? query.get('start-after') ?? '';
  const delimiter = query.get('delimiter');
  const items: string[] = [];
  let [count, last] = [0, ''];
  let isTruncated = false;
  const start = bytesOf(after);
  for (const key of sorted) {
    if (!key.startsWith(prefix) || Buffer.compare(bytesOf(key), start) <= 0) continue;
    if (last.endsWith('/') && delimiter !== null && key.startsWith(last)) continue;
    if (count === pageSize) {
      isTruncated = true;
      break;
    }
    const cut = delimiter === null ? -1 : key.indexOf(delimiter, prefix.length);
    last = cut < 0 ? key : key.slice(0, cut + 1);
    count += 1;
    const text = encodeURIComponent(last);
    items.push(
      cut < 0
        ? `<Contents><Key>${text}</Key><Size>1</Size><ETag>"e"</ETag></Contents>`
        : `<CommonPrefixes><Prefix>${text}</Prefix></CommonPrefixes>`,
    );
  }
  const more = isTruncated ? `<NextContinuationToken>${last}</NextContinuationToken>` : '';
  return (
    `<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>${isTruncated}</IsTruncated>` +
    `${items.join('')}${more}</ListBucketResult>`
  );
}

/** How a bucket of these keys is listed. */
async function walked(
  keys: readonly string[],
  options: WalkOptions = {},
  prefix = '',
  answerMs = 0,
): Promise<{ readonly keys: string[]; readonly calls: number; readonly atOnce: number }> {
  const sorted = inOrder(keys);
  const found: string[] = [];
  let [underWay, atOnce, calls] = [0, 0, 0];
  await withStub(
    (request, response) => {
      underWay += 1;
      calls += 1;
      atOnce = Math.max(atOnce, underWay);
      setTimeout(() => {
        underWay -= 1;
        response.end(listing(sorted, request));
      }, answerMs);
    },
    {},
    async (adapter) => {
      for await (const page of adapter.walk(`s3://bucket/${prefix}`, { parallel: true, ...options }))
        for (const { uri } of page) found.push(uri.slice('s3://bucket/'.length));
    },
  );
  return { keys: found, calls, atOnce };
}

const files = (folder: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${folder}f${String(index).padStart(6, '0')}`);
const folders = (count: number, each: number, above = ''): string[] =>
  Array.from({ length: count }, (_, index) => files(`${above}d${index}/`, each)).flat();

describe('a walk in parallel', () => {
  it.each([
    ['one page', folders(3, 10), 1, 1],
    ['large folders', folders(20, 300), 60, 62],
    ['more large folders than are listed at once', folders(150, 120), 180, 310],
    ['one large folder before many small ones', [...files('a/', 150), ...folders(400, 1)], 6, 80],
    ['middling folders', folders(60, 30), 18, 30],
    ['a long way down to them', folders(20, 200, 'year=2026/month=11/'), 40, 66],
    ['no folders', files('', 1200), 12, 13],
    ['a great many small ones', folders(1200, 1), 12, 14],
    ['more than one page of folders', folders(240, 5), 12, 20],
    ['files beside folders', [...folders(20, 150), ...files('x', 300), ...files('d5', 150)], 35, 55],
  ])('finds all of %s in order, with few more calls than needed', async (_name, keys, needed, most) => {
    const { keys: found, calls } = await walked(keys);
    expect(found).toEqual(inOrder(keys));
    expect(calls).toBeGreaterThanOrEqual(needed);
    expect(calls).toBeLessThanOrEqual(most);
  });

  it('asks for several parts at once', async () => {
    const keys = folders(20, 300);
    expect((await walked(keys, {}, '', 20)).atOnce).toBeGreaterThan(2);
    expect((await walked(keys, { parallel: false })).atOnce).toBe(1);
  });

  it('keeps the order of bytes, objects named like folders and a prefix within a name', async () => {
    const odd = ['a-b/', 'a/b/', 'a/', 'a.b/', 'a0/', 'ｚ/', '😀/', 'é/', 'a b/', 'a/é😀/'];
    const keys = odd.flatMap((folder) => [folder, ...files(folder, 170)]);
    expect((await walked(keys)).keys).toEqual(inOrder(keys));
    const below = keys.filter((key) => key.startsWith('a'));
    expect((await walked(keys, {}, 'a')).keys).toEqual(inOrder(below));
    const after = 'a/é😀/f000003';
    expect((await walked(keys, { after: `s3://bucket/${after}` })).keys).toEqual(
      inOrder(keys).filter((key) => Buffer.compare(bytesOf(key), bytesOf(after)) > 0),
    );
  });

  const breaking = async (
    answer: (request: Seen, response: ServerResponse, count: number) => void,
    use: (adapter: BlockAdapter) => Promise<void>,
  ): Promise<void> => withStub(answer, { maxRetries: 0 }, use);
  const sorted = inOrder(folders(20, 300));

  it('reads pages that are not written plainly when it is their turn', async () => {
    const seen: string[] = [];
    await breaking(
      (request, response) => {
        const text = listing(sorted, request);
        const odd = text.replaceAll('<Size>', '<Owner kind="user">me</Owner><Size>');
        response.end(/prefix=d1/.test(request.url) ? odd : text);
      },
      async (adapter) => {
        for await (const page of adapter.walk('s3://bucket/', { parallel: true }))
          seen.push(...page.map(({ relativeKey }) => relativeKey));
      },
    );
    expect(seen).toEqual(sorted);
  });

  it('refuses a page whose objects are not well-formed', async () => {
    await breaking(
      (request, response) => {
        const text = listing(sorted, request);
        response.end(/prefix=d1[4-7]/.test(request.url) ? text.replace('</Key>', '</Kex>') : text);
      },
      async (adapter) => {
        const walking = (async () => {
          for await (const _ of adapter.walk('s3://bucket/', { parallel: true }));
        })();
        await expect(walking).rejects.toMatchObject({ kind: 'unavailable' });
      },
    );
  });

  it('tells a failure after what came before it', async () => {
    const seen: string[] = [];
    await breaking(
      (request, response) => {
        if (/prefix=d1[4-7]/.test(request.url)) refuse(response, 403, 'AccessDenied');
        else response.end(listing(sorted, request));
      },
      async (adapter) => {
        const walking = (async () => {
          for await (const page of adapter.walk('s3://bucket/', { parallel: true }))
            seen.push(...page.map(({ relativeKey }) => relativeKey));
        })();
        await expect(walking).rejects.toMatchObject({ kind: 'forbidden' });
      },
    );
    expect(seen.length).toBeGreaterThan(1000);
    expect(seen).toEqual(sorted.slice(0, seen.length));
  });

  it('stops asking when it is left or aborted', async () => {
    let calls = 0;
    await breaking(
      (request, response) => {
        calls += 1;
        response.end(listing(sorted, request));
      },
      async (adapter) => {
        for await (const page of adapter.walk('s3://bucket/', { parallel: true }))
          if (page[0]?.relativeKey.startsWith('d1/') === true) break;
        const stop = new AbortController();
        const walking = (async () => {
          for await (const page of adapter.walk('s3://bucket/', { parallel: true, signal: stop.signal }))
            if (page[0]?.relativeKey.startsWith('d1/') === true) stop.abort(new Error('enough'));
        })();
        await expect(walking).rejects.toThrow('enough');
        const before = calls;
        await new Promise((resolve) => setTimeout(resolve, 50));
        expect(calls - before).toBeLessThan(20);
        expect(calls).toBeLessThan(110);
      },
    );
  });

  it('fails rather than lose what a store lists out of order', async () => {
    const ordered = inOrder(folders(60, 30));
    const swapped = ordered.toSpliced(ordered.indexOf('d26/f000001'), 0, 'd25/z');
    await breaking(
      (request, response) => response.end(listing(swapped, request)),
      async (adapter) => {
        const walking = (async () => {
          for await (const page of adapter.walk('s3://bucket/', { parallel: true }))
            expect(page).not.toEqual([]);
        })();
        await expect(walking).rejects.toThrow('is not listed in the order of its keys');
      },
    );
  });
});
