import { encodeStagedEntry } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { Overlay } from './overlay.ts';
import { retireTokens, tokenFor } from './tokens.ts';

/** More sealed tokens than this are folded. */
export const maxSealedTokens = 16;
/** The newest ones are left alone: a commit under way is about to take them. */
const keptTokens = 4;
const parallelWrites = 64;

/** Commits that keep failing leave sealed tokens behind; folds them in the background when there are many. */
export function foldSealedTokensLater(
  context: EngineContext,
  scope: RepositoryScope,
  branch: string,
  sealedCount: number,
): void {
  if (sealedCount <= maxSealedTokens) return;
  context.background.start('fold-tokens', () => foldSealedTokens(context, scope, branch));
}

/** Replaces the oldest sealed tokens by one that shows the same; false when there was nothing to do or a race. */
export async function foldSealedTokens(
  context: EngineContext,
  scope: RepositoryScope,
  branch: string,
): Promise<boolean> {
  const head = await context.branches.find(scope, branch);
  if (head === undefined || head.data.sealedTokens.length <= maxSealedTokens) return false;
  const kept = head.data.sealedTokens.slice(0, keptTokens);
  const folded = head.data.sealedTokens.slice(keptTokens);
  const target = tokenFor(scope, branch);
  await copyOverlay(context, head.tokens.slice(1 + keptTokens), Buffer.from(target));
  const replaced = await context.branches.replace(scope, head, {
    ...head.data,
    sealedTokens: [...kept, target],
  });
  await retireTokens(context, replaced ? folded : [target]);
  return replaced;
}

async function copyOverlay(context: EngineContext, tokens: readonly Buffer[], target: Buffer): Promise<void> {
  const overlay = new Overlay(context.kv, tokens);
  let writes: Promise<void>[] = [];
  try {
    while (await overlay.next()) {
      const value = encodeStagedEntry(overlay.key, overlay.identity, overlay.data);
      writes.push(context.kv.set(target, overlay.key, value));
      if (writes.length === parallelWrites) {
        await Promise.all(writes);
        writes = [];
      }
    }
    await Promise.all(writes);
  } finally {
    overlay.close();
  }
}
