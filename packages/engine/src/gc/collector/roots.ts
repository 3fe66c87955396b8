import {
  gcKeepMessage,
  gcPinMessage,
  importStatusMessage,
  pinOfAddress,
  pinOfCommit,
  timestampToMillis,
  xidSeconds,
} from '@svc/encoding';
import type { EngineContext } from '../../context/engine-context.ts';
import type { GcRules } from '../../face/gc.ts';
import { importsPrefix, isFinished } from '../../import/import-store.ts';
import type { RepositoryScope } from '../../store/scope.ts';
import { completedLifetimeMs, listUploadRecords } from '../../uploads/upload-records.ts';
import { findActiveCommits } from '../active-commits.ts';
import { CommitTable } from '../commit-table.ts';
import { keepsPrefix, pinsPrefix } from '../gc-keys.ts';
import { KeptRefs, mainParentOf, type KeptBy } from '../kept-refs.ts';
import { readStagedAddresses } from '../staged-addresses.ts';
import type { Marks } from './marks.ts';

const hourMs = 3_600_000;
/** How long an import still counts that has ended, or whose server has. */
const importLifetimeMs = 24 * hourMs;

/** Everything that keeps data and tables, as read by one look at the repository. */
export interface Roots {
  readonly commits: CommitTable;
  /** By index in `commits`. */
  readonly active: Uint8Array;
  /** Tree of each commit, by index. */
  readonly trees: readonly string[];
  /** Trees without a commit. */
  readonly extraTrees: ReadonlySet<string>;
  /** Tables written since then may belong to an import under way; milliseconds. */
  readonly tablesBefore: number;
  readonly defaultHead: string | undefined;
  /** What keeps commits, one by one. */
  readonly keptBy: readonly KeptBy[];
  /** Without rules every history is kept whole. */
  readonly hasRules: boolean;
  /** Unix seconds. */
  readonly begun: number;
  /** Commits that nothing leads to and that are nobody's parent, in id order; undefined: they are kept. */
  readonly dangling: readonly DanglingCommit[] | undefined;
}

export interface DanglingCommit {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

export interface RootOptions {
  readonly rules: GcRules | undefined;
  /** When the run began, in milliseconds. */
  readonly begun: number;
  readonly graceMs: number;
  /** How long commits stay that nothing leads to; 0: for ever. */
  readonly danglingMs: number;
  /** Asked between steps; throws to end the run. */
  readonly mayGoOn: () => Promise<void>;
}

/** Without rules every commit is active, and the days do not matter. */
const noRules: GcRules = { defaultRetentionDays: 0, branches: [] };

/**
 * References move one way: from an upload to what is staged, to a commit, to a ref. Each is read before the next, so what
 * moves meanwhile is found further on.
 */
export async function readRoots(
  context: EngineContext,
  scope: RepositoryScope,
  marks: Marks,
  options: RootOptions,
): Promise<Roots> {
  const { rules, begun, graceMs, mayGoOn } = options;
  const commits = new CommitTable();
  for await (const { id } of context.commits.list(scope)) commits.addKnown(id);
  await mayGoOn();
  const refs = new KeptRefs(rules ?? noRules);
  const extraTrees = new Set<string>();
  for (const commitId of await readKeeps(context, scope)) refs.addCommit(commitId, 'keeps');
  await markUploads(context, scope, marks);
  const oldestImport = await readImports(context, scope, extraTrees);
  await mayGoOn();
  await refs.readRefs(context, scope);
  const defaultHead = (await context.branches.find(scope, scope.repository.defaultBranch))?.data.commitId;
  await mayGoOn();
  await markStaged(context, scope, marks, mayGoOn);
  await refs.readMoves(context, scope, begun - graceMs - 2 * hourMs);
  const trees: string[] = [];
  const isParent = new Uint8Array(options.danglingMs === 0 ? 0 : commits.count);
  for await (const commit of context.commits.list(scope)) {
    if (options.danglingMs > 0) for (const parent of commit.parents) isParent[commits.indexOf(parent)] = 1;
    commits.add(commit.id, commit.creationDate.seconds, mainParentOf(commit));
    trees[commits.next(commit.id)] = commit.metaRangeId;
  }
  commits.finish();
  await readPins(context, scope, { marks, extraTrees, commits: refs.tagged });
  const { heads, tagged } = refs;
  const active = findActiveCommits({
    commits,
    heads,
    tagged,
    defaultRetentionDays: rules?.defaultRetentionDays ?? 0,
    now: begun / 1000,
  });
  if (rules === undefined) active.fill(1);
  return {
    commits,
    active,
    trees,
    extraTrees,
    tablesBefore: oldestImport - hourMs,
    defaultHead,
    keptBy: refs.by,
    hasRules: rules !== undefined,
    begun: begun / 1000,
    dangling:
      options.danglingMs === 0
        ? undefined
        : danglingCommits(commits, isParent, refs, begun - options.danglingMs),
  };
}

/** Only those that are nobody's parent, so no history gets a hole. What was recorded since the run began stays. */
function danglingCommits(
  commits: CommitTable,
  isParent: Uint8Array,
  { heads, tagged }: KeptRefs,
  before: number,
): DanglingCommit[] {
  const isNamed = new Uint8Array(isParent.length);
  for (const { commitId } of heads) isNamed[commits.indexOf(commitId)] = 1;
  for (const commitId of tagged) isNamed[commits.indexOf(commitId)] = 1;
  const found: DanglingCommit[] = [];
  for (let index = 0; index < isParent.length; index += 1) {
    const createdAt = commits.createdAt(index) * 1000;
    if (isParent[index] === 1 || isNamed[index] === 1 || createdAt >= before) continue;
    found.push({ id: commits.idOf(index), createdAt });
  }
  return found;
}

async function readKeeps(context: EngineContext, scope: RepositoryScope): Promise<string[]> {
  const kept: string[] = [];
  for await (const page of context.kv.scan(scope.partition, { prefix: keepsPrefix })) {
    for (const { key, value } of page) {
      if (timestampToMillis(gcKeepMessage.decode(value).until) <= context.clock()) continue;
      kept.push(key.subarray(keepsPrefix.length).toString());
    }
  }
  return kept;
}

/** A store dates a joined object by the start of its upload, so it may look old before it is staged. */
async function markUploads(context: EngineContext, scope: RepositoryScope, marks: Marks): Promise<void> {
  for await (const { repository, completedAt, physicalAddress } of listUploadRecords(context)) {
    if (repository !== scope.repository.id) continue;
    const isLongOver =
      completedAt !== undefined && context.clock() - timestampToMillis(completedAt) > completedLifetimeMs;
    if (!isLongOver) marks.addText(physicalAddress);
  }
}

/** Answers when the oldest import began that has not ended, in milliseconds. */
async function readImports(
  context: EngineContext,
  scope: RepositoryScope,
  trees: Set<string>,
): Promise<number> {
  let oldest = Number.POSITIVE_INFINITY;
  for await (const page of context.kv.scan(scope.partition, { prefix: importsPrefix })) {
    for (const { value } of page) {
      const data = importStatusMessage.decode(value);
      // One that has not ended shows life every few seconds, or its server is dead.
      if (context.clock() - timestampToMillis(data.updatedAt) > importLifetimeMs) continue;
      const isOver = isFinished(data);
      if (data.metaRangeId !== '') trees.add(data.metaRangeId);
      const begun = xidSeconds(data.id);
      if (!isOver && begun !== undefined) oldest = Math.min(oldest, begun * 1000);
    }
  }
  return oldest;
}

async function markStaged(
  context: EngineContext,
  scope: RepositoryScope,
  marks: Marks,
  mayGoOn: () => Promise<void>,
): Promise<void> {
  for await (const { id } of context.branches.list(scope)) {
    await mayGoOn();
    await readStagedAddresses(context, scope, id, undefined, {
      add: ({ address }) => {
        marks.addText(address);
        return Promise.resolve();
      },
      isOver: () => false,
      keys: 0,
    });
  }
}

export interface PinTargets {
  readonly marks: Pick<Marks, 'addText'>;
  readonly extraTrees: Set<string>;
  readonly commits: string[];
}

/** What came back to life since the run began. */
export async function readPins(
  context: EngineContext,
  scope: RepositoryScope,
  targets: PinTargets,
): Promise<void> {
  for await (const page of context.kv.scan(scope.partition, { prefix: pinsPrefix })) {
    for (const { value } of page) {
      const pin = gcPinMessage.decode(value);
      if (pin.kind === pinOfAddress) targets.marks.addText(pin.value);
      else if (pin.kind === pinOfCommit) targets.commits.push(pin.value);
      else targets.extraTrees.add(pin.value);
    }
  }
}
