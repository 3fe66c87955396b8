import { timestampToMillis } from '@svc/encoding';
import { adapterOf, type EngineContext } from '../../context/engine-context.ts';
import type { RepositoryScope } from '../../store/scope.ts';
import { runKey } from '../gc-keys.ts';
import { GcPlaces } from './places.ts';
import { isOver, listRuns } from './run-store.ts';

const keptRuns = 100;

/** Forgets old runs together with their files. */
export async function pruneRuns(context: EngineContext, scope: RepositoryScope): Promise<void> {
  const { reportRetentionMs } = context.settings.gc;
  const places = new GcPlaces(scope);
  const adapter = adapterOf(context, scope);
  let seen = 0;
  for await (const run of listRuns(context, scope)) {
    seen += 1;
    const age = context.clock() - timestampToMillis(run.created);
    const isOld = seen > keptRuns || (reportRetentionMs > 0 && age > reportRetentionMs);
    if (!isOld || !isOver(run)) continue;
    const files = [
      places.summary(run.id),
      places.deleted(run.id),
      places.deletedText(run.id),
      ...(['plan', 'kept', 'failed', 'condemned'] as const).map((kind) => places.list(run.id, kind)),
    ];
    // The files first: without the record nobody would look for them any more.
    const failures = await adapter.deleteMany(files.map((file) => places.pointer(file)));
    if (failures.length === 0) await context.kv.delete(scope.partition, runKey(run.id));
  }
}
