import { Readable } from 'node:stream';
import { moveOfTag, partitionTimeBase } from '@svc/encoding';
import { boundCommits } from '../bindings/bound-commits.ts';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import type { GcCommits, GcRules } from '../face/gc.ts';
import type { Commit } from '../face/model.ts';
import { trimSlash } from '../repositories/namespaces.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { findActiveCommits } from './active-commits.ts';
import { CommitTable } from './commit-table.ts';
import { findGcRules } from './gc-rules.ts';
import { checkCollectable, noteExternalCall } from './gc-state.ts';
import { moveTime } from '../moves/move-id.ts';
import { commitText } from '../moves/move-log.ts';

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
  const { heads, tagged } = await readRefs(context, scope, rules, since);
  // Again: the graph must hold what was committed meanwhile.
  for await (const commit of context.commits.list(scope)) {
    commits.add(commit.id, commit.creationDate.seconds, mainParentOf(commit));
  }
  commits.finish();
  const { defaultRetentionDays } = rules;
  const active = findActiveCommits({ commits, heads, tagged, defaultRetentionDays, now: now / 1000 });
  return (id) => {
    const index = commits.next(id);
    return index < 0 || active[index] === 1;
  };
}

interface KeptRefs {
  readonly heads: { readonly commitId: string; readonly retentionDays: number }[];
  readonly tagged: string[];
}

/**
 * What refs point to, what they pointed to since the run began, and what a deletion or a reset took from them that can
 * still be brought back.
 */
async function readRefs(
  context: EngineContext,
  scope: RepositoryScope,
  rules: GcRules,
  since: number,
): Promise<KeptRefs> {
  const daysOf = new Map(rules.branches.map(({ branch, retentionDays }) => [branch, retentionDays]));
  const retention = (branch: string): number => daysOf.get(branch) ?? rules.defaultRetentionDays;
  const heads: KeptRefs['heads'] = [];
  for await (const { id, commitId } of context.branches.list(scope)) {
    heads.push({ commitId, retentionDays: retention(id) });
  }
  const tagged: string[] = [];
  for await (const { commitId } of context.tags.list(scope)) tagged.push(commitId);
  for await (const commitId of boundCommits(context, scope)) tagged.push(commitId);
  // Last: a ref that moved before it was read above has left a record of that.
  for await (const { id, data } of context.moves.list(scope)) {
    const isYoung = moveTime(id) >= since * 1000;
    if (!isYoung && !data.lossy) continue;
    for (const commitId of [commitText(data.old), isYoung ? commitText(data.new) : undefined]) {
      if (commitId === undefined) continue;
      if (data.refType === moveOfTag) tagged.push(commitId);
      else heads.push({ commitId, retentionDays: retention(data.refId) });
    }
  }
  return { heads, tagged };
}

/** Commits of version 0 (old dumps) have their main parent last. */
function mainParentOf(commit: Commit): string | undefined {
  return commit.version === 0 ? commit.parents.at(-1) : commit.parents[0];
}
