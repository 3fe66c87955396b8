import type { BlockAdapter, WalkedObject } from '@svc/block';
import { trimSlash } from '../../repositories/namespaces.ts';

const data = 'data/';
/** Follows every key that begins so. */
const behindData = 'data0';

/**
 * All objects below a namespace in the order of their keys. Data comes in folders of its own, so a store may be asked for
 * several of them at once; what lies before and behind it would hide where they begin.
 */
export async function* walkNamespace(
  adapter: Pick<BlockAdapter, 'walk' | 'absoluteUri'>,
  storageNamespace: string,
): AsyncGenerator<readonly WalkedObject[]> {
  const namespace = `${trimSlash(storageNamespace)}/`;
  const options = { skipEtag: true } as const;
  for await (const page of adapter.walk(namespace, options)) {
    const end = page.findIndex(({ relativeKey }) => relativeKey >= data);
    if (end !== 0) yield end < 0 ? page : page.slice(0, end);
    if (end >= 0) break;
  }
  for await (const page of adapter.walk(`${namespace}${data}`, { ...options, parallel: true })) {
    yield page.map((object) => ({ ...object, relativeKey: data + object.relativeKey }));
  }
  const after = adapter.absoluteUri({
    storageNamespace,
    identifier: behindData,
    identifierType: 'relative',
  });
  yield* adapter.walk(namespace, { ...options, after });
}
