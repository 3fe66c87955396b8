import { copyStringMap, emptyStringMap, repoMetadataMessage, type StringMap } from '@svc/encoding';
import { maxTries } from '../context/back-off.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { tooManyAttempts } from '../context/refusals.ts';
import { repoMetadataKey } from '../store/keys.ts';
import type { RepositoryScope } from '../store/scope.ts';

export async function getRepositoryMetadata(context: EngineContext, repository: string): Promise<StringMap> {
  const scope = await context.repositories.open(repository);
  const found = await context.kv.get(scope.partition, repoMetadataKey);
  return found === undefined ? emptyStringMap : repoMetadataMessage.decode(found.value).metadata;
}

/** Changes the map by compare-and-set; allowed on read-only repositories. */
export async function changeRepositoryMetadata(
  context: EngineContext,
  scope: RepositoryScope,
  change: (metadata: Record<string, string>) => void,
): Promise<void> {
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const found = await context.kv.get(scope.partition, repoMetadataKey);
    const current =
      found === undefined ? { metadata: emptyStringMap } : repoMetadataMessage.decode(found.value);
    const metadata = copyStringMap(current.metadata);
    change(metadata);
    const value = repoMetadataMessage.encode({ ...current, metadata });
    const condition = found?.predicate ?? 'absent';
    if (await context.kv.setIf(scope.partition, repoMetadataKey, value, condition)) return;
    context.onRetry('repository-metadata');
  }
  throw tooManyAttempts();
}
