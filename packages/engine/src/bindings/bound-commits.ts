import { bindingMessage, type BindingData } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { EngineError } from '../errors.ts';
import { parseRef } from '../refs/parse-ref.ts';
import { resolveRef } from '../refs/resolve-ref.ts';
import { positionsSince } from '../refs/resolve-time.ts';
import { aliasesPrefix, gravelerPartition, viewsPrefix } from '../store/keys.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { shownRef } from './bound-target.ts';

/** What aliases and views of a repository show, and will show while nothing moves: their readers rely on it. */
export async function* boundCommits(context: EngineContext, scope: RepositoryScope): AsyncGenerator<string> {
  for (const prefix of [aliasesPrefix, viewsPrefix]) {
    for await (const page of context.kv.scan(gravelerPartition, { prefix })) {
      for (const { value } of page) {
        const data = bindingMessage.decode(value);
        if (data.instanceUid === scope.repository.instanceUid) yield* shownBy(context, scope, data);
      }
    }
  }
}

/** The commits that one binding shows. */
export async function* shownBy(
  context: EngineContext,
  scope: RepositoryScope,
  data: BindingData,
): AsyncGenerator<string> {
  const ref = shownRef(data);
  try {
    yield (await resolveRef(context, scope, ref)).commitId;
  } catch (error) {
    if (!isDangling(error)) throw error;
  }
  try {
    const { base, time } = parseRef(ref);
    // As time goes by such a ref shows one position after the other.
    if (time?.kind === 'ago' || time?.kind === 'moves') yield* positionsSince(context, scope, base, time);
  } catch (error) {
    if (!isDangling(error)) throw error;
  }
}

/** There is nothing to keep. Whatever else went wrong says nothing about that. */
function isDangling(error: unknown): boolean {
  return error instanceof EngineError && (error.kind === 'not_found' || error.kind === 'invalid');
}
