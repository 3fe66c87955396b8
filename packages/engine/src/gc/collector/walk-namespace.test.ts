import { createMemAdapter, openBlockStore, type BlockAdapter } from '@svc/block';
import { tempDir } from '@svc/testing';
import { expect, it } from 'vitest';
import { walkNamespace } from './walk-namespace.ts';

const keys = ['_svc/a', 'dat', 'data', 'data-a', 'data/1/2', 'data/notes', 'data0/x', 'data1', 'e', 'é'];

const stores: Record<string, () => Promise<readonly [adapter: BlockAdapter, namespace: string]>> = {
  mem: () => Promise.resolve([createMemAdapter(), 'mem://bucket/repo']),
  local: async () => [await openBlockStore({ type: 'local', path: tempDir() }), 'local://repo'],
};

it.each(Object.keys(stores))('shows every object of a namespace once, in order (%s)', async (name) => {
  const [adapter, storageNamespace] = await stores[name]!();
  // A disk has no file and folder of one name.
  const there = name === 'local' ? keys.filter((key) => key !== 'data') : keys;
  for (const namespace of [storageNamespace, `${storageNamespace}-other`, `${storageNamespace}/`]) {
    const found: string[] = [];
    for await (const page of walkNamespace(adapter, namespace)) {
      found.push(...page.map(({ relativeKey }) => relativeKey));
    }
    expect(found).toEqual(namespace === `${storageNamespace}/` ? there.toSorted() : []);
    for (const identifier of namespace.endsWith('-other') ? there : []) {
      await adapter.put({ storageNamespace, identifier, identifierType: 'relative' }, Buffer.from('x'));
    }
  }
  await adapter.close();
});
