import { Readable } from 'node:stream';
import { partitionTimeBase } from '@svc/encoding';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import type { GcCommits } from '../face/gc.ts';
import type { Commit } from '../face/model.ts';
import { trimSlash } from '../repositories/namespaces.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { findActiveCommits, type RetentionCommit } from './active-commits.ts';
import { findGcRules } from './gc-rules.ts';

/** Writes the list of commits whose data must stay. Without rules that is every commit. */
export async function prepareGcCommits(
  context: EngineContext,
  scope: RepositoryScope,
): Promise<Omit<GcCommits, 'presigned'>> {
  const runId = context.xids.nextDescending(partitionTimeBase);
  const base = `${scope.committed.metadataPrefix}/retention/gc`;
  const file = `${base}/commits/run_id=${runId}/commits.csv`;
  const active = await activeCommits(context, scope);
  const { storageNamespace } = scope.repository;
  await adapterOf(context, scope).put(
    { storageNamespace, identifier: file, identifierType: 'relative' },
    { stream: Readable.from(csvLines(context, scope, active), { objectMode: false }), size: -1 },
  );
  const namespace = trimSlash(storageNamespace);
  return {
    runId,
    commitsLocation: `${namespace}/${file}`,
    addressesLocation: `${namespace}/${base}/addresses/`,
  };
}

async function* csvLines(
  context: EngineContext,
  scope: RepositoryScope,
  active: ReadonlySet<string> | 'all',
): AsyncGenerator<Buffer> {
  let lines = 'commit_id,expired,metarange_id\n';
  for await (const commit of context.commits.list(scope)) {
    if (active !== 'all' && !active.has(commit.id)) continue;
    lines += `${commit.id},false,${commit.metaRangeId}\n`;
    if (lines.length < 65_536) continue;
    yield Buffer.from(lines);
    lines = '';
  }
  yield Buffer.from(lines);
}

async function activeCommits(context: EngineContext, scope: RepositoryScope): Promise<Set<string> | 'all'> {
  const rules = await findGcRules(context, scope);
  if (rules === undefined) return 'all';
  const daysOf = new Map(rules.branches.map(({ branch, retentionDays }) => [branch, retentionDays]));
  // Heads and tags first: a commit made meanwhile is then among the commits read after them.
  const heads: { commitId: string; retentionDays: number }[] = [];
  for await (const { id, commitId } of context.branches.list(scope)) {
    heads.push({ commitId, retentionDays: daysOf.get(id) ?? rules.defaultRetentionDays });
  }
  const tagged: string[] = [];
  for await (const { commitId } of context.tags.list(scope)) tagged.push(commitId);
  const commits: RetentionCommit[] = [];
  for await (const commit of context.commits.list(scope)) {
    commits.push({ id: commit.id, createdAt: commit.creationDate.seconds, mainParent: mainParentOf(commit) });
  }
  return findActiveCommits({
    commits,
    heads,
    tagged,
    defaultRetentionDays: rules.defaultRetentionDays,
    now: context.clock() / 1000,
  });
}

/** Commits of version 0 (old dumps) have their main parent last. */
function mainParentOf(commit: Commit): string | undefined {
  return commit.version === 0 ? commit.parents.at(-1) : commit.parents[0];
}
