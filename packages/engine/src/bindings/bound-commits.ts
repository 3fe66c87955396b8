import { bindingMessage } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { EngineError } from '../errors.ts';
import { resolveRef } from '../refs/resolve-ref.ts';
import { aliasesPrefix, gravelerPartition, viewsPrefix } from '../store/keys.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { shownRef } from './bound-target.ts';

/** What aliases and views of a repository show: their readers rely on it. */
export async function* boundCommits(context: EngineContext, scope: RepositoryScope): AsyncGenerator<string> {
  for (const prefix of [aliasesPrefix, viewsPrefix]) {
    for await (const page of context.kv.scan(gravelerPartition, { prefix })) {
      for (const { value } of page) {
        const data = bindingMessage.decode(value);
        if (data.instanceUid !== scope.repository.instanceUid) continue;
        try {
          yield (await resolveRef(context, scope, shownRef(data))).commitId;
        } catch (error) {
          // It dangles: there is nothing to keep.
          if (!(error instanceof EngineError)) throw error;
        }
      }
    }
  }
}
