import type { ObjectPointer } from '@svc/block';
import { withBlockStore } from '../context/block-refusals.ts';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import type { InMetadataObject, Metadata } from '../face/metadata.ts';
import { checkHashId } from '../names/names.ts';
import type { RepositoryScope } from '../store/scope.ts';

/** Committed metadata files, for clients that read ranges and metaranges themselves. */
export function metadata(context: EngineContext): Metadata {
  return {
    location: async (options) => {
      const scope = await context.repositories.open(options.repository);
      return locationOf(scope, options);
    },
    open: async (options) => {
      const scope = await context.repositories.open(options.repository);
      const pointer = pointerTo(scope, options);
      return withBlockStore(adapterOf(context, scope), (adapter) => adapter.get(pointer));
    },
    presign: async (options) => {
      const scope = await context.repositories.open(options.repository);
      const pointer = pointerTo(scope, options);
      return withBlockStore(adapterOf(context, scope), (adapter) => adapter.presign(pointer, 'read'));
    },
  };
}

function pointerTo(scope: RepositoryScope, options: InMetadataObject): ObjectPointer {
  return {
    storageNamespace: scope.repository.storageNamespace,
    identifier: locationOf(scope, options),
    identifierType: 'relative',
  };
}

function locationOf(scope: RepositoryScope, options: InMetadataObject): string {
  checkHashId(options.id, options.type);
  return `${scope.repository.metadataPrefix}/${options.id}`;
}
