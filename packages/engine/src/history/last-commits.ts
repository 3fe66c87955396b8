import { prefixSuccessor, startsWithBytes } from '@svc/encoding';
import { Pace } from '../committed/pace.ts';
import type { EngineContext } from '../context/engine-context.ts';
import type { LastCommits, LastCommitsOptions } from '../face/commits.ts';
import type { Commit } from '../face/model.ts';
import { resolveCommit } from '../refs/resolve-ref.ts';
import type { RepositoryScope } from '../store/scope.ts';

const patienceMs = 1000;
/** A commit costs as much as this many records. */
const perCommit = 256;
/** Changes between two looks at the clock. */
const changesPerLook = 256;
const slash = 0x2f;

/** Walks back along first parents and notes what each commit changed, until all is found or patience ends. */
export async function lastCommits(context: EngineContext, options: LastCommitsOptions): Promise<LastCommits> {
  const scope = await context.repositories.open(options.repository);
  const prefix = Buffer.from(options.prefix);
  const wanted = new Set(options.paths);
  const found = new Map<string, Commit>();
  const until = performance.now() + patienceMs;
  const pace = new Pace();
  let commit = await resolveCommit(context, scope, options.ref);
  while (wanted.size > 0) {
    if (performance.now() > until) return { found, complete: false };
    if (pace.due(perCommit)) await pace.pause();
    const [parentId] = commit.parents;
    const parent = parentId === undefined ? undefined : await context.commits.get(scope, parentId);
    let looked = 0;
    for await (const path of changedEntries(context, scope, { commit, parent, prefix })) {
      if (wanted.delete(path)) found.set(path, commit);
      if (wanted.size === 0) break;
      if (++looked % changesPerLook === 0 && performance.now() > until) return { found, complete: false };
    }
    if (parent === undefined) break;
    commit = parent;
  }
  return { found, complete: true };
}

/** The objects and folders in a folder that a commit changed; a folder is entered once. */
async function* changedEntries(
  context: EngineContext,
  scope: RepositoryScope,
  { commit, parent, prefix }: { commit: Commit; parent: Commit | undefined; prefix: Buffer },
): AsyncGenerator<string> {
  const before = parent?.metaRangeId ?? '';
  if (before === commit.metaRangeId) return;
  const diff = context.trees.diff(scope.committed, before, commit.metaRangeId, prefix);
  try {
    while (await diff.next()) {
      const { key } = diff;
      if (!startsWithBytes(key, prefix)) return;
      const end = key.indexOf(slash, prefix.length);
      if (end < 0) {
        yield key.toString();
        continue;
      }
      const folder = Buffer.from(key.subarray(0, end + 1));
      yield folder.toString();
      const next = prefixSuccessor(folder);
      if (next === undefined) return;
      diff.seek(next);
    }
  } finally {
    diff.close();
  }
}
