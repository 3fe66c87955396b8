import { gcIdle, gcStateMessage, graveMessage } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import type { RateLimit } from '../context/rate-limit.ts';
import { invalid } from '../context/refusals.ts';
import { wholeRound, type JobRound } from '../face/jobs.ts';
import type { InRepository } from '../face/model.ts';
import { stateKey } from '../gc/gc-keys.ts';

import { gravelerPartition, gravesPrefix, moveKey, movesPrefix, outboxPrefix } from '../store/keys.ts';
import { earliestIdAt, moveTime } from './move-id.ts';
import { shownSince } from './retention.ts';

const hourMs = 3_600_000;
/** A collector needs the records of what moved while it ran: a day of grace and three hours for its run and clocks. */
export const leastAgeMs: number = 27 * hourMs;
const batchSize = 1000;

/** Forgets the moves that are no longer shown, in every repository. */
export async function trimMoves(
  context: EngineContext,
  limit: RateLimit,
  round: JobRound = wholeRound,
): Promise<void> {
  const now = context.clock();
  for await (const data of context.repositories.list('', '')) {
    if (!(await round.mayGoOn())) return;
    const scope = context.repositories.scopeOf(data);
    const { retentionMs } = await shownSince(context, scope);
    await forgetBefore(context, scope.partition, now - Math.max(retentionMs, leastAgeMs), limit, round);
  }
  const { reflogRetentionMs } = context.settings;
  await forgetBefore(context, gravelerPartition, now - Math.max(reflogRetentionMs, leastAgeMs), limit, round);
  await context.moves.forget();
}

export async function expireMoves(
  context: EngineContext,
  options: InRepository & { readonly before: number },
): Promise<void> {
  if (options.before > context.clock() - leastAgeMs) {
    throw invalid('before: moves of the last 27 hours are kept, collectors need them; give an earlier time');
  }
  const scope = await context.repositories.open(options.repository);
  await forgetBefore(context, scope.partition, options.before);
  await context.moves.forget();
}

async function forgetBefore(
  context: EngineContext,
  partition: Buffer,
  beforeMs: number,
  limit?: RateLimit,
  round: JobRound = wholeRound,
): Promise<void> {
  // A collection that runs reads the records.
  const state = await context.kv.get(partition, stateKey);
  if (state !== undefined && gcStateMessage.decode(state.value).phase !== gcIdle) return;
  const cut = await keepUnsequenced(context, partition, earliestIdAt(beforeMs * 1000));
  const moves = context.kv.scan(partition, { prefix: movesPrefix, after: moveKey(cut), batch: batchSize });
  for await (const page of moves) {
    const keys = page.map(({ key }) => key);
    if (!(await round.mayGoOn())) return;
    await limit?.take();
    await context.kv.deleteMany(partition, keys);
  }
  for await (const page of context.kv.scan(partition, { prefix: gravesPrefix })) {
    for (const { key, value } of page) {
      if (moveTime(graveMessage.decode(value).lastMove) >= beforeMs * 1000) continue;
      const found = await context.kv.get(partition, key);
      // The name may have been deleted once more meanwhile.
      if (found?.value.equals(value) !== true) continue;
      await limit?.take();
      await context.kv.deleteIf(partition, key, found.predicate);
    }
  }
}

/** What the log of events does not have yet is made from its record. */
async function keepUnsequenced(context: EngineContext, partition: Buffer, cut: Buffer): Promise<Buffer> {
  for await (const page of context.kv.scan(partition, { prefix: outboxPrefix, batch: 1 })) {
    const oldest = page[0]?.key.subarray(outboxPrefix.length);
    return oldest !== undefined && Buffer.compare(oldest, cut) < 0 ? Buffer.from(oldest) : cut;
  }
  return cut;
}
