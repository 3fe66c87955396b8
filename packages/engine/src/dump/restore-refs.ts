import { branchMessage, commitId, commitMessage, tagMessage } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { RefsManifest, RestoreOptions } from '../face/dumps.ts';
import { checkBranchName, checkHashId, checkTagName } from '../names/names.ts';
import type { PlannedMove, RefMove } from '../moves/move-log.ts';
import { AdoptedTrees } from '../objects/adopted-trees.ts';
import { tokenFor } from '../staging/tokens.ts';
import type { RepositoryScope } from '../store/scope.ts';

/** "Bare": the default branch does not exist, so its log is not found. */
export async function checkBare(context: EngineContext, scope: RepositoryScope): Promise<void> {
  const head = await context.branches.find(scope, scope.repository.defaultBranch);
  if (head !== undefined) throw invalid('can only restore into a bare repository', 'repository');
}

export function checkManifest(manifest: RefsManifest): void {
  for (const [name, id] of Object.entries(manifest)) if (id !== '') checkHashId(id, name);
}

/**
 * Loads refs from a dump: commits, then branches, then tags. What was restored before a failure stays; the
 * repository is then deleted, created bare again and restored anew.
 */
export async function restoreRefs(
  context: EngineContext,
  scope: RepositoryScope,
  options: RestoreOptions,
): Promise<void> {
  const { manifest, actor } = options;
  const adopted = new AdoptedTrees(context, scope, options);
  const isTrusted = await adopted.isTrusted();
  await forEachRecord(context, scope, manifest.commitsMetaRangeId, 'commit', async (data) => {
    const commit = commitMessage.decode(data);
    if (commit.metaRangeId !== '') checkHashId(commit.metaRangeId, 'metarange_id');
    for (const parent of commit.parents) checkHashId(parent, 'parents');
    if (commit.generation < 1) {
      throw invalid(`commit ${commit.id} has no generation: the dump is too old to be restored`, 'commit');
    }
    if (commitId(commit) !== commit.id) {
      throw invalid(`commit ${commit.id}: invalid commit id: its content has another id`, 'commit');
    }
    // A long history has many trees to check, so callers who may use every address skip the check.
    if (!isTrusted) await adopted.check(commit.metaRangeId);
    await context.commits.add(scope, commit);
  });
  const planRestored = async (id: string, to: string, hidden: boolean): Promise<PlannedMove> => {
    const restored: RefMove = { kind: 'restore-refs', type: 'branch', id, to, actor, hidden };
    const existing = await context.branches.find(scope, id);
    if (existing === undefined) return context.moves.planCreation(scope, restored);
    return context.moves.plan(scope, { ...restored, from: existing.data.commitId }, existing.data.lastMove);
  };
  await forEachRecord(context, scope, manifest.branchesMetaRangeId, 'branch', async (data) => {
    const { id, commitId: head, hidden } = branchMessage.decode(data);
    checkBranchName(id);
    checkHashId(head, 'commit');
    const stagingToken = tokenFor(scope, id);
    const branch = { id, commitId: head, hidden, stagingToken, sealedTokens: [] };
    await context.branches.overwrite(scope, branch, await planRestored(id, head, hidden));
  });
  await forEachRecord(context, scope, manifest.tagsMetaRangeId, 'tag', async (data) => {
    const { id, commitId: target } = tagMessage.decode(data);
    checkTagName(id);
    checkHashId(target, 'commit');
    const restored: RefMove = { kind: 'restore-refs', type: 'tag', id, to: target, actor };
    const move = await context.moves.planCreation(scope, restored);
    if (!(await context.tags.create(scope, { id, commitId: target }, move))) {
      throw new EngineError('already_exists', `tag ${id} already exists: not unique`, { subject: 'tag' });
    }
  });
}

/** Records of a dumped tree are written with this many stores in flight. */
const inFlight = 64;

async function forEachRecord(
  context: EngineContext,
  scope: RepositoryScope,
  metaRangeId: string,
  entity: string,
  store: (data: Buffer) => Promise<void>,
): Promise<void> {
  if (metaRangeId === '') return;
  const outline = await context.trees.outline(scope.committed, metaRangeId);
  if (outline === undefined) throw new EngineError('data_gone', 'No data', { subject: 'object' });
  if (outline.entity !== entity) {
    throw invalid(`metarange ${metaRangeId} is no dump of ${entity} records`, 'repository');
  }
  const records = context.trees.iterate(scope.committed, metaRangeId);
  const pending = new Set<Promise<void>>();
  let failure: unknown;
  try {
    while (await records.next()) {
      // A copy: the iterator's slice changes under the store that is still under way.
      const stored: Promise<void> = store(Buffer.from(records.data))
        .catch((error: unknown) => {
          failure ??= error;
        })
        .finally(() => pending.delete(stored));
      pending.add(stored);
      if (pending.size >= inFlight) await Promise.race(pending);
      if (failure !== undefined) break;
    }
  } finally {
    records.close();
    await Promise.all(pending);
  }
  if (failure !== undefined) throw failure;
}
