import { createMemAdapter, type BlockAdapter } from '@svc/block';
import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { openTestTrees, readTree, writeTree } from './tree-fixture.ts';

const model = new Map([
  ['a', 'one'],
  ['b', 'two'],
]);

/** The store, which loses what is put first: a range, beside which its metarange is stored. */
function losingFirst(store: BlockAdapter): { readonly adapter: BlockAdapter; readonly stored: string[] } {
  const stored: string[] = [];
  let isFirst = true;
  const put: BlockAdapter['put'] = async (pointer, ...rest) => {
    if (isFirst) {
      isFirst = false;
      throw new Error('the connection was lost');
    }
    stored.push(pointer.identifier);
    return store.put(pointer, ...rest);
  };
  const adapter = new Proxy(store, {
    get(target, name: keyof BlockAdapter) {
      if (name === 'put') return put;
      const member: unknown = target[name];
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
  return { adapter, stored };
}

test.each(['the process that failed', 'another process'])(
  'a tree of which only the metarange was stored is whole once %s writes it again',
  async (who) => {
    const store = createMemAdapter({});
    const { adapter, stored } = losingFirst(store);
    const { trees: failed } = await openTestTrees(tempDir(), { adapter });
    await expect(writeTree(failed, model)).rejects.toThrow('the connection was lost');
    expect(stored).toHaveLength(1);

    const { trees: other } = await openTestTrees(tempDir(), { adapter: store });
    const id = await writeTree(who === 'another process' ? other : failed, model);
    expect(stored[0]).toContain(id);
    // From the store alone, without anybody's cache.
    const { trees: reader } = await openTestTrees(tempDir(), { adapter: store });
    expect(await readTree(reader, id)).toEqual(model);
    for (const trees of [failed, other, reader]) await trees.close();
  },
);
