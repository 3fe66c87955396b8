import { randomUUID } from 'node:crypto';
import type { EngineContext } from '../context/engine-context.ts';
import { cleanupTokensPartition } from '../store/keys.ts';
import type { RepositoryScope } from '../store/scope.ts';

const stubValue = Buffer.from('stub-value');
/** No key comes before it. */
const leastKey = Buffer.alloc(1);

/** A fresh staging token; never reused. */
export function newToken(repository: string, branch: string): string {
  return `${repository}-${branch}:${randomUUID()}`;
}

export function tokenFor(scope: RepositoryScope, branch: string): string {
  return newToken(scope.repository.id, branch);
}

/**
 * Hands tokens that no branch record names any more to the cleaner. Call it only after the compare-and-set that
 * dropped them: the entries of a listed token are deleted. The operation has succeeded by then, so a failure is
 * only logged: a token that is not listed is found later as a lost one.
 */
export async function retireTokens(context: EngineContext, tokens: readonly string[]): Promise<void> {
  try {
    await listForCleaner(context, tokens);
  } catch (error) {
    context.logger.warn({ err: error }, 'staging that is no longer used was not handed to the cleaner');
  }
}

/** As `retireTokens`, but fails when it fails. */
export async function listForCleaner(context: EngineContext, tokens: readonly string[]): Promise<void> {
  const [only] = tokens;
  if (only === undefined) return;
  if (tokens.length === 1) await context.kv.set(cleanupTokensPartition, Buffer.from(only), stubValue);
  else {
    const records = tokens.map((token) => ({ key: Buffer.from(token), value: stubValue }));
    await context.kv.setMany(cleanupTokensPartition, records);
  }
}

/** Whether nothing was ever staged under a token (or all of it was dropped again). */
export async function isTokenEmpty({ kv }: EngineContext, token: Buffer): Promise<boolean> {
  if (kv.firstKeyAtOnce !== undefined) return kv.firstKeyAtOnce(token, leastKey) === undefined;
  for await (const page of kv.scan(token, { batch: 1 })) return page.length === 0;
  return true;
}
