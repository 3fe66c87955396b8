import type { HookObserver } from '@svc/actions';
import type { CacheObserver, CollectorObserver, GcCount, RefObserver, TaskObserver } from '@svc/engine';
import type { Metrics } from './metrics.ts';

type CacheMetrics = Pick<Metrics, 'tierCacheHits' | 'tierErrors' | 'tierEvictions' | 'tierDownloads'>;
type TaskMetrics = Pick<Metrics, 'asyncRunning' | 'asyncDuration' | 'asyncExpired'>;

/** The folders of the cache under the names that dashboards know. */
const folders = { range: 'range', metarange: 'meta-range' } as const;

/** Counts what happens to the files of the cache folder. */
export function observeCache(metrics: CacheMetrics): CacheObserver {
  return {
    found: (kind) => metrics.tierCacheHits.inc({ fsName: folders[kind], status: 'hit' }),
    missed: (kind) => metrics.tierCacheHits.inc({ fsName: folders[kind], status: 'miss' }),
    downloaded: (kind, bytes) => metrics.tierDownloads.observe({ fsName: folders[kind] }, bytes),
    evicted: (kind, bytes) => metrics.tierEvictions.observe({ fsName: folders[kind] }, bytes),
    failed: (kind, type) => metrics.tierErrors.inc({ fsName: folders[kind], type }),
  };
}

/** Measures asynchronous operations. */
export function observeTasks(metrics: TaskMetrics): TaskObserver {
  return {
    started: (operation) => metrics.asyncRunning.inc({ operation }),
    ended(operation, status, seconds) {
      metrics.asyncRunning.dec({ operation });
      metrics.asyncDuration.observe({ operation, status }, seconds);
    },
    expired: (operation) => metrics.asyncExpired.inc({ operation }),
  };
}

/** Counts what refs are used for. */
export function observeRefs(metrics: Pick<Metrics, 'refMoves' | 'timeRefs'>): RefObserver {
  return {
    moved: (kind) => metrics.refMoves.inc({ kind }),
    resolvedTime: (form, isKnown) => metrics.timeRefs.inc({ form, outcome: isKnown ? 'found' : 'refused' }),
  };
}

type CollectorMetrics = Pick<
  Metrics,
  | 'gcRuns'
  | 'gcPhases'
  | 'gcDeletedObjects'
  | 'gcDeletedBytes'
  | 'gcDeleteFailures'
  | 'gcRescued'
  | 'gcCondemnedObjects'
  | 'gcCondemnedBytes'
  | 'gcLastSuccess'
>;

/** Counts what the collector does. Repositories are not told apart: their names are nobody's business here. */
export function observeCollector(metrics: CollectorMetrics): CollectorObserver {
  const condemned = new Map<string, GcCount>();
  const sum = (part: keyof GcCount): number =>
    [...condemned.values()].reduce((total, count) => total + count[part], 0);
  return {
    ended(outcome, at) {
      metrics.gcRuns.inc({ outcome });
      if (outcome === 'completed') metrics.gcLastSuccess.set(at / 1000);
    },
    phase: (phase, seconds) => metrics.gcPhases.observe({ phase }, seconds),
    deleted(garbage, { objects, bytes }) {
      metrics.gcDeletedObjects.inc({ class: garbage }, objects);
      metrics.gcDeletedBytes.inc({ class: garbage }, bytes);
    },
    failures: (count) => metrics.gcDeleteFailures.inc(count),
    rescued: (count) => metrics.gcRescued.inc(count),
    condemned(repository, count) {
      condemned.set(repository, count);
      metrics.gcCondemnedObjects.set(sum('objects'));
      metrics.gcCondemnedBytes.set(sum('bytes'));
    },
  };
}

/** Users name actions, and metrics must not grow with whatever they name. */
const actionsNamed = 200;

/** Measures hooks. */
export function observeHooks(metrics: Pick<Metrics, 'hookDuration' | 'hooksEnded'>): HookObserver {
  const named = new Set<string>();
  return {
    hookEnded({ event, action, type, status, seconds }) {
      if (named.size < actionsNamed) named.add(action);
      metrics.hooksEnded.inc({ action: named.has(action) ? action : 'other', event, status });
      metrics.hookDuration.observe({ event, type, status }, seconds);
    },
  };
}
