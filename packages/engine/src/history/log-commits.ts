import { compareTimestamps, startsWithBytes, timestampToMillis } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { pageSize } from '../context/page.ts';
import { invalid, notFound } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { LogOptions } from '../face/commits.ts';
import type { Commit, Page } from '../face/model.ts';
import { mayHoldOwn } from '../merges/own-metadata.ts';
import { resolveCommitId } from '../refs/resolve-ref.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { Heap } from './heap.ts';

/** The history of a ref, newest first, filtered and paged as asked. */
export async function logCommits(context: EngineContext, options: LogOptions): Promise<Page<Commit>> {
  const scope = await context.repositories.open(options.repository);
  const paths = parsePaths(options);
  const start = await resolveNamed(context, scope, options.ref, 'ref');
  const after = await resolveOptional(context, scope, options.after, 'from ref');
  const stopAt = await resolveOptional(context, scope, options.stopAt, 'stop_at');
  const size = pageSize(options.amount);
  const page: Commit[] = [];
  let skipping = after !== undefined;
  const history = new History(context, scope, options);
  await history.begin(start);
  for (;;) {
    const next = history.next();
    const commit = next instanceof Promise ? await next : next;
    if (commit === undefined) break;
    if (skipping) {
      if (commit.id === after) skipping = false;
      continue;
    }
    if (paths === undefined || (await touches(context, scope, commit, paths))) {
      if (page.length === size) return { items: page, hasMore: true, nextOffset: page.at(-1)?.id ?? '' };
      page.push(commit);
      if (options.limit === true && page.length === size) break;
    }
    if (commit.id === stopAt) break;
  }
  return { items: page, hasMore: false, nextOffset: '' };
}

/** Commits in the order of a log. Those in memory need not be waited for, and most often all of them are. */
class History {
  readonly #context: EngineContext;
  readonly #scope: RepositoryScope;
  readonly #options: LogOptions;
  readonly #queue = new Heap<Commit>((left, right) => {
    const order = compareTimestamps(left.creationDate, right.creationDate);
    return order > 0 || (order === 0 && left.id > right.id);
  });
  readonly #seen = new Set<string>();
  /** Whose parents are not in the queue yet. */
  #last: Commit | undefined;

  constructor(context: EngineContext, scope: RepositoryScope, options: LogOptions) {
    this.#context = context;
    this.#scope = scope;
    this.#options = options;
  }

  async begin(start: string): Promise<void> {
    this.#seen.add(start);
    this.#queue.push(await this.#context.commits.get(this.#scope, start));
  }

  next(): Commit | undefined | Promise<Commit | undefined> {
    const { commits } = this.#context;
    for (const parent of this.#unseenParents()) {
      const known = commits.getAtOnce(this.#scope, parent);
      if (known === undefined) return this.#waitFor(parent);
      this.#add(known);
    }
    this.#last = this.#pop();
    return this.#last;
  }

  async #waitFor(parent: string): Promise<Commit | undefined> {
    this.#add(await this.#context.commits.get(this.#scope, parent));
    return this.next();
  }

  #unseenParents(): readonly string[] {
    const parents = this.#last?.parents ?? [];
    const followed = this.#options.firstParent === true ? parents.slice(0, 1) : parents;
    return followed.filter((parent) => !this.#seen.has(parent));
  }

  #add(commit: Commit): void {
    if (this.#seen.has(commit.id)) return;
    this.#seen.add(commit.id);
    this.#queue.push(commit);
  }

  #pop(): Commit | undefined {
    const { since } = this.#options;
    for (let commit = this.#queue.pop(); commit !== undefined; commit = this.#queue.pop()) {
      if (since === undefined || timestampToMillis(commit.creationDate) >= since) return commit;
    }
    return undefined;
  }
}

interface Paths {
  readonly objects: readonly Buffer[];
  readonly prefixes: readonly Buffer[];
}

function parsePaths(options: LogOptions): Paths | undefined {
  const { objects = [], prefixes = [] } = options;
  if (objects.length === 0 && prefixes.length === 0) return undefined;
  for (const path of [...objects, ...prefixes]) {
    if (path === '') throw invalid('objects and prefixes must not be empty', 'object');
  }
  return {
    objects: objects.map((path) => Buffer.from(path)),
    prefixes: prefixes.map((path) => Buffer.from(path)),
  };
}

/** Whether a commit changed one of the paths. A merge did where it holds what no parent does; roots never count. */
async function touches(
  context: EngineContext,
  scope: RepositoryScope,
  commit: Commit,
  paths: Paths,
): Promise<boolean> {
  const [parentId, ...others] = commit.parents;
  if (parentId === undefined || (others.length > 0 && !mayHoldOwn(commit))) return false;
  const before = await Promise.all(
    commit.parents.map(async (id) => (await context.commits.get(scope, id)).metaRangeId),
  );
  const [first = ''] = before;
  if (before.includes(commit.metaRangeId)) return false;
  const isOwn = async (key: Buffer): Promise<boolean> => {
    const held = await context.trees.get(scope.committed, commit.metaRangeId, key);
    for (const tree of before) {
      const there = await context.trees.get(scope.committed, tree, key);
      const isSame =
        held === undefined || there === undefined ? held === there : held.identity.equals(there.identity);
      if (isSame) return false;
    }
    return true;
  };
  for (const key of paths.objects) if (await isOwn(key)) return true;
  for (const prefix of paths.prefixes) {
    const diff = context.trees.diff(scope.committed, first, commit.metaRangeId, prefix);
    try {
      while ((await diff.next()) && startsWithBytes(diff.key, prefix)) {
        if (others.length === 0 || (await isOwn(Buffer.from(diff.key)))) return true;
      }
    } finally {
      diff.close();
    }
  }
  return false;
}

function resolveOptional(
  context: EngineContext,
  scope: RepositoryScope,
  ref: string | undefined,
  what: string,
): Promise<string | undefined> {
  if (ref === undefined || ref === '') return Promise.resolve(undefined);
  return resolveNamed(context, scope, ref, what);
}

async function resolveNamed(
  context: EngineContext,
  scope: RepositoryScope,
  ref: string,
  what: string,
): Promise<string> {
  try {
    return await resolveCommitId(context, scope, ref);
  } catch (error) {
    if (error instanceof EngineError && error.kind === 'not_found')
      throw notFound('ref', `${what}: not found`);
    throw error;
  }
}
