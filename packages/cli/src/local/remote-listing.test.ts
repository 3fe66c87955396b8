import type { Calls } from '@svc/client';
import { expect, it } from 'vitest';
import { listObjects } from './remote-listing.ts';

/** Answers the pages in turn; an error is thrown. */
function listing(pages: readonly (readonly string[] | Error)[]) {
  const asked: string[] = [];
  const get = (_path: string, { params }: { params: { query: { after: string } } }): Promise<unknown> => {
    const page = pages[asked.length];
    asked.push(params.query.after);
    if (page instanceof Error || page === undefined) return Promise.reject(page ?? new Error('no page'));
    const results = page.map((path) => ({ path }));
    const pagination = { has_more: asked.length < pages.length, next_offset: results.at(-1)?.path ?? '' };
    return Promise.resolve({ pagination, results });
  };
  const client = { get } as unknown as Calls;
  return { asked, objects: listObjects({ client, repository: 'repo', ref: 'main', prefix: '' }) };
}

it('asks for the next page while one is used, and for none before it is known', async () => {
  const { asked, objects } = listing([['a', 'b'], ['c'], [], ['d']]);
  const seen: [string, string[]][] = [];
  for await (const { path } of objects) seen.push([path, [...asked]]);
  expect(seen).toEqual([
    ['a', ['', 'b']],
    ['b', ['', 'b']],
    ['c', ['', 'b', 'c']],
    ['d', ['', 'b', 'c', '']],
  ]);
});

it('fails where the page that failed would have begun', async () => {
  const { objects } = listing([['a', 'b'], new Error('gone'), []]);
  const seen: string[] = [];
  const reading = (async () => {
    for await (const { path } of objects) {
      seen.push(path);
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  await expect(reading).rejects.toThrow('gone');
  expect(seen).toEqual(['a', 'b']);
});
