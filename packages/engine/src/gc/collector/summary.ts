import { buffer } from 'node:stream/consumers';
import { BlockError } from '@svc/block';
import { timestampToMillis } from '@svc/encoding';
import { adapterOf, type EngineContext } from '../../context/engine-context.ts';
import type { GcReport } from '../../face/gc-runs.ts';
import type { RepositoryScope } from '../../store/scope.ts';
import { GcPlaces } from './places.ts';
import { reportToJson, rootsFromJson } from './report-json.ts';
import { readRun } from './run-store.ts';

/** Beside what was deleted, in the form that tools for the files of other collectors read. */
export async function writeSummary(
  context: EngineContext,
  scope: RepositoryScope,
  runId: string,
  report: GcReport,
): Promise<void> {
  const { data } = await readRun(context, scope, runId);
  const summary = {
    run_id: runId,
    success: true,
    first_slice: '',
    start_time: new Date(timestampToMillis(data.started)).toISOString(),
    cutoff_time: new Date(report.cutoff * 1000).toISOString(),
    num_deleted_objects: report.classes.reduce((sum, row) => sum + row.deleted.objects, 0),
    report: reportToJson(report),
  };
  const places = new GcPlaces(scope);
  await adapterOf(context, scope).put(
    places.pointer(places.summary(runId)),
    Buffer.from(JSON.stringify(summary)),
  );
}

/** What is too large for the record of a run; undefined once the file is gone. */
export async function readRootReports(
  context: EngineContext,
  scope: RepositoryScope,
  runId: string,
): Promise<GcReport['roots']> {
  const places = new GcPlaces(scope);
  try {
    const body = await adapterOf(context, scope).get(places.pointer(places.summary(runId)));
    const text = (body.bytes ?? (await buffer(body.stream()))).toString();
    const { report } = JSON.parse(text) as { readonly report?: ReturnType<typeof reportToJson> };
    return rootsFromJson(report?.roots);
  } catch (error) {
    if (error instanceof BlockError && error.kind === 'not_found') return undefined;
    throw error;
  }
}
