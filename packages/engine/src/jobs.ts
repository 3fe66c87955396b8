import type { EngineContext } from './context/engine-context.ts';
import { RateLimit } from './context/rate-limit.ts';
import type { Job } from './face/jobs.ts';
import { runQueued } from './gc/collector/runner.ts';
import { scheduleRuns } from './gc/collector/schedule.ts';
import { TokenCleaner } from './staging/clean-tokens.ts';
import { LostStaging } from './staging/lost-staging.ts';
import { trimMoves } from './moves/trim-moves.ts';
import { emptyNamespaces } from './repositories/purge-data.ts';
import { emptyTrash } from './repositories/purge-repository.ts';
import { removeExpired } from './tasks/remove-expired.ts';
import { sweepUnknownUploads, sweepUploads } from './uploads/sweep-uploads.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** One lease for all: they are light, and two of them remember what they saw in the round before. */
const lease = 'housekeeping';

/** The engine's own jobs. */
export function engineJobs(context: EngineContext): readonly Job[] {
  return [
    {
      name: 'clean-tokens',
      everyMs: minuteMs,
      lease,
      begin: () => {
        const cleaner = new TokenCleaner(context, new RateLimit(context.settings.backgroundRateLimit));
        return (round) => cleaner.run(round);
      },
    },
    {
      name: 'find-lost-staging',
      everyMs: 6 * hourMs,
      lease,
      begin: () => {
        const lostStaging = new LostStaging(context);
        return (round) => lostStaging.run(round);
      },
    },
    { name: 'sweep-uploads', everyMs: hourMs, lease, begin: () => (round) => sweepUploads(context, round) },
    {
      name: 'sweep-unknown-uploads',
      everyMs: dayMs,
      lease,
      begin: () => (round) => sweepUnknownUploads(context, round),
    },
    {
      name: 'trim-moves',
      everyMs: hourMs,
      lease,
      begin: () => {
        const limit = new RateLimit(context.settings.backgroundRateLimit);
        return (round) => trimMoves(context, limit, round);
      },
    },
    {
      name: 'schedule-collections',
      everyMs: minuteMs,
      lease,
      begin: () => (round) => scheduleRuns(context, round),
    },
    // Every server looks: who takes a run holds the lease of its repository.
    { name: 'collect-garbage', everyMs: 5000, begin: () => (round) => runQueued(context, round) },
    {
      name: 'empty-trash',
      everyMs: 10 * minuteMs,
      lease,
      begin: () => (round) => emptyTrash(context, round),
    },
    // As with collections: who empties a namespace holds the lease of its repository.
    {
      name: 'empty-namespaces',
      everyMs: minuteMs,
      begin: () => (round) => emptyNamespaces(context, round),
    },
    {
      name: 'remove-expired-tasks',
      everyMs: dayMs,
      lease,
      begin: () => (round) => removeExpired(context, round),
    },
  ];
}
