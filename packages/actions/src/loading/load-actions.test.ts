import type { ObjectEntry, Repository } from '@svc/engine';
import { expect, test } from 'vitest';
import { ActionLoader, type FileSource } from './load-actions.ts';

const repository = { id: 'repo', instanceUid: 'uid' } as Repository;

/** A branch with one action file, which may be another one between the listing and the reading of it. */
function branch() {
  let version = 1;
  let reads = 0;
  let onRead = (): void => undefined;
  const entry = (): ObjectEntry =>
    ({
      path: '_svc_actions/a.yaml',
      address: `data/${version}`,
      addressType: 'relative',
      etag: String(version),
      mtime: { seconds: 1, nanos: 0 },
    }) as ObjectEntry;
  const objects = {
    list: ({ prefix }: { prefix: string }) =>
      Promise.resolve({
        hasMore: false,
        nextOffset: '',
        release: () => undefined,
        visit(see: (item: object) => void) {
          if (prefix === '_svc_actions/') see({ kind: 'object', ...entry() });
        },
      }),
    open() {
      reads += 1;
      onRead();
      const bytes = Buffer.from(`name: version ${version}\non: {pre-commit: }\nhooks: []\n`);
      return Promise.resolve({ entry: entry(), body: { size: bytes.length, bytes } });
    },
  };
  return {
    source: { objects } as unknown as FileSource,
    reads: () => reads,
    write: () => (version += 1),
    whileRead: (change: () => void) => {
      onRead = change;
    },
  };
}

test('a file of a branch is read once, and another one in its place at once', async () => {
  const at = branch();
  const loader = new ActionLoader(() => at.source);
  const names = async () => (await loader.load({ repository, ref: 'main' })).map(({ name }) => name);
  expect([await names(), await names(), at.reads()]).toEqual([['version 1'], ['version 1'], 1]);
  at.write();
  expect([await names(), await names(), at.reads()]).toEqual([['version 2'], ['version 2'], 2]);
});

test('a file that changes while it is read is not taken for the one that was listed', async () => {
  const at = branch();
  const loader = new ActionLoader(() => at.source);
  at.whileRead(() => {
    at.write();
    at.whileRead(() => undefined);
  });
  await loader.load({ repository, ref: 'main' });
  await loader.load({ repository, ref: 'main' });
  expect(at.reads()).toBe(2);
});

test('what is known of a branch by its files is remembered from commits only', async () => {
  const at = branch();
  const loader = new ActionLoader(() => at.source);
  const name = async (ref: string, files: string) => (await loader.load({ repository, ref, files }))[0]?.name;
  const commit = 'c'.repeat(64);
  // The branch shows another file by now than the one that was told.
  expect(await name('main', 'old')).toBe('version 1');
  at.write();
  expect(await name(commit, 'new')).toBe('version 2');
  at.write();
  expect(await name('main', 'new')).toBe('version 2');
  expect(await name('main', 'old')).toBe('version 3');
});
