import { BlockStores, type BlockAdapter } from '@svc/block';
import { createTestAdapter } from '@svc/block/named-store';
import { createMemStore, LocalCacheBus, MemState, type KvStore } from '@svc/kv';
import type { CommittedTrees } from '../src/committed/tree.ts';
import { createEngine, type Engine } from '../src/engine.ts';
import type { EngineOptions } from '../src/face/options.ts';
import { EngineError, type EngineErrorKind } from '../src/errors.ts';
import { NaiveTrees } from './naive-trees.ts';

export const actor = { committer: 'tester' };

/** What several engines share, like servers on one database and one object store. */
export interface World {
  readonly state: MemState;
  readonly adapter: BlockAdapter;
  readonly trees: CommittedTrees;
  /** Milliseconds; only tests move it. */
  now: number;
  /** A further engine on the same stores. */
  engine(options?: Partial<EngineOptions> & { wrapKv?: (kv: KvStore) => KvStore }): Engine;
}

export function createWorld(
  trees: CommittedTrees = new NaiveTrees(),
  adapter: BlockAdapter = createTestAdapter(),
): World {
  const state = new MemState();
  const world: World = {
    state,
    adapter,
    trees,
    now: 1_700_000_000_000,
    engine: ({ wrapKv = (kv: KvStore) => kv, ...options } = {}) =>
      createEngine({
        kv: wrapKv(createMemStore(state)),
        blockStores: new BlockStores([adapter]),
        trees,
        cacheBus: new LocalCacheBus(),
        signingSecret: 'secret-key',
        clock: () => world.now,
        ...options,
      }),
  };
  return world;
}

let repositories = 0;

/** A fresh repository with its own namespace. */
export async function newRepository(
  engine: Engine,
  { folder = 'mem://bucket', ...options }: { readOnly?: boolean; folder?: string } = {},
): Promise<string> {
  repositories += 1;
  const name = `repo-${process.pid}-${repositories}`;
  await engine.repositories.create({ name, storageNamespace: `${folder}/${name}`, actor, ...options });
  return name;
}

export async function put(
  engine: Engine,
  repository: string,
  branch: string,
  path: string,
  content: string,
): Promise<void> {
  await engine.objects.upload({ repository, branch, path, body: Buffer.from(content) });
}

export async function commit(
  engine: Engine,
  repository: string,
  branch: string,
  message = 'change',
): Promise<string> {
  return (await engine.commits.create({ repository, branch, message, actor })).id;
}

export async function read(engine: Engine, repository: string, ref: string, path: string): Promise<string> {
  const { body } = await engine.objects.open({ repository, ref, path });
  if (body.bytes !== undefined) return body.bytes.toString();
  const chunks: Buffer[] = [];
  for await (const chunk of body.stream()) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Path to content of everything a ref shows. */
export async function contents(
  engine: Engine,
  repository: string,
  ref: string,
): Promise<Record<string, string>> {
  const result: Record<string, string> = {};
  for (const path of await paths(engine, repository, ref))
    result[path] = await read(engine, repository, ref, path);
  return result;
}

/** Every path of a ref, listed in pages. */
export async function paths(
  engine: Engine,
  repository: string,
  ref: string,
  options: { amount?: number; prefix?: string; delimiter?: string; after?: string } = {},
): Promise<string[]> {
  const result: string[] = [];
  let after = options.after ?? '';
  for (;;) {
    const page = await engine.objects.list({ repository, ref, ...options, after });
    page.visit((item) => result.push(item.path));
    if (!page.hasMore) return result;
    after = page.nextOffset;
  }
}

export async function changes(engine: Engine, repository: string, branch: string): Promise<string[]> {
  const page = await engine.refs.diffUncommitted({ repository, branch, amount: 1000 });
  return page.items.map((item) => `${item.type} ${item.path}`);
}

/** The error a call is refused with. */
export async function refusal(call: Promise<unknown>): Promise<EngineError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
  throw new Error('the call was not refused');
}

export async function refusalKind(call: Promise<unknown>): Promise<EngineErrorKind> {
  return (await refusal(call)).kind;
}
