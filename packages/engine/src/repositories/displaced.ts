import type { BlockAdapter } from '@svc/block';
import type { EngineContext } from '../context/engine-context.ts';
import { liesInside, trimSlash } from './namespaces.ts';
import { listTrash, type StoredDeletedRepository } from '../store/deleted-repositories.ts';
import { changeInTrash } from './trash.ts';

/** What a creation did to the trash, to be taken back when it fails. */
export interface Displaced {
  undo(): Promise<void>;
}

/** A deleted repository whose namespace somebody takes over can neither come back nor take its data with it. */
export async function displaceDeleted(
  context: EngineContext,
  adapter: BlockAdapter,
  canonical: string,
  by: string,
): Promise<Displaced> {
  const displaced: StoredDeletedRepository[] = [];
  for await (const stored of listTrash(context)) {
    const store = context.blockStores.find(stored.repository.storageId);
    if (store?.type !== adapter.type || stored.data.displacedBy !== '') continue;
    const theirs = trimSlash(await store.canonicalUri(stored.repository.storageNamespace));
    if (!liesInside(canonical, theirs) && !liesInside(theirs, canonical)) continue;
    await changeInTrash(context, stored, (data) => ({ ...data, displacedBy: by }));
    displaced.push(stored);
  }
  return {
    async undo() {
      for (const stored of displaced) {
        await changeInTrash(context, stored, (data) =>
          data.displacedBy === by ? { ...data, displacedBy: '' } : undefined,
        );
      }
    },
  };
}
