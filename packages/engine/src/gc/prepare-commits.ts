import { Readable } from 'node:stream';
import { partitionTimeBase } from '@svc/encoding';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import type { GcCommits } from '../face/gc.ts';
import { trimSlash } from '../repositories/namespaces.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { findActiveCommits } from './active-commits.ts';
import { CommitTable } from './commit-table.ts';
import { findGcRules } from './gc-rules.ts';
import { checkUsedByNobodyElse } from './foreign.ts';
import { checkCollectable, noteExternalCall } from './gc-state.ts';
import { KeptRefs, mainParentOf } from './kept-refs.ts';

/** How long before this call its run may have begun. */
const longestRunMs = 26 * 3_600_000;
/** Clocks of several servers may differ so far. */
const clockErrorMs = 60_000;

/** Writes the list of commits whose data must stay. Without rules that is every commit. */
export async function prepareGcCommits(
  context: EngineContext,
  scope: RepositoryScope,
): Promise<Omit<GcCommits, 'presigned'>> {
  await checkCollectable(context, scope);
  await checkUsedByNobodyElse(context, scope);
  const begun = await noteExternalCall(context, scope, {});
  const runId = context.xids.nextDescending(partitionTimeBase);
  const base = `${scope.committed.metadataPrefix}/retention/gc`;
  const file = `${base}/commits/run_id=${runId}/commits.csv`;
  const active = await findActive(context, scope, begun);
  const { storageNamespace } = scope.repository;
  await adapterOf(context, scope).put(
    { storageNamespace, identifier: file, identifierType: 'relative' },
    { stream: Readable.from(csvLines(context, scope, active), { objectMode: false }), size: -1 },
  );
  // A restore or a deletion that began meanwhile has taken refs from under the list.
  await checkCollectable(context, scope);
  const namespace = trimSlash(storageNamespace);
  return {
    runId,
    commitsLocation: `${namespace}/${file}`,
    addressesLocation: `${namespace}/${base}/addresses/`,
  };
}

/** Whether a commit is active; asked in id order. */
type IsActive = (commitId: string) => boolean;

async function* csvLines(
  context: EngineContext,
  scope: RepositoryScope,
  isActive: IsActive,
): AsyncGenerator<Buffer> {
  let lines = 'commit_id,expired,metarange_id\n';
  for await (const commit of context.commits.list(scope)) {
    if (!isActive(commit.id)) continue;
    lines += `${commit.id},false,${commit.metaRangeId}\n`;
    if (lines.length < 65_536) continue;
    yield Buffer.from(lines);
    lines = '';
  }
  yield Buffer.from(lines);
}

async function findActive(context: EngineContext, scope: RepositoryScope, begun: number): Promise<IsActive> {
  const rules = await findGcRules(context, scope);
  if (rules === undefined) return () => true;
  const now = context.clock();
  const since = (now - begun < longestRunMs ? begun : now) - clockErrorMs;
  const commits = new CommitTable();
  for await (const { id } of context.commits.list(scope)) commits.addKnown(id);
  const refs = new KeptRefs(rules);
  await refs.readRefs(context, scope);
  await refs.readMoves(context, scope, since);
  // Again: the graph must hold what was committed meanwhile.
  for await (const commit of context.commits.list(scope)) {
    commits.add(commit.id, commit.creationDate.seconds, mainParentOf(commit));
  }
  commits.finish();
  const { defaultRetentionDays } = rules;
  const { heads, tagged } = refs;
  const active = findActiveCommits({ commits, heads, tagged, defaultRetentionDays, now: now / 1000 });
  return (id) => {
    const index = commits.next(id);
    return index < 0 || active[index] === 1;
  };
}
