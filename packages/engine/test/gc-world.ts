import {
  BlockError,
  BlockStores,
  createMemAdapter,
  type BlockAdapter,
  type DeleteFailure,
  type ObjectPointer,
} from '@svc/block';
import { createMemStore, LocalCacheBus, MemState, type KvStore } from '@svc/kv';
import { tempDir } from '@svc/testing';
import { join } from 'node:path';
import { mkdir } from 'node:fs/promises';
import { createCommittedTrees } from '../src/committed/committed-trees.ts';
import type { CommittedTrees } from '../src/committed/tree.ts';
import { createEngine, type Engine } from '../src/engine.ts';
import type { CollectorSettings } from '../src/face/gc-runs.ts';
import type { HookPoints } from '../src/face/hooks.ts';
import { defaultSettings } from '../src/context/settings.ts';

export const hour = 3_600_000;
export const day = 24 * hour;
/** Commits that nothing leads to go soon. */
export const danglingCommitsMs = 2 * day;

/** A call of an engine to a store, as a test may hold, fail or count it. */
export type Around = <T>(name: string, call: () => Promise<T>, about: unknown) => Promise<T>;

export interface GcEngineOptions {
  readonly wrapKv?: (kv: KvStore) => KvStore;
  /** Around every call to the object store that writes, deletes, or asks whether something is there. */
  readonly around?: Around;
  /** Milliseconds by which this server's clock is ahead. */
  readonly skew?: number;
  /** Breaks the rule that no request is sent when it is too late for it. */
  readonly deletesWhenLate?: boolean;
  readonly rest?: (milliseconds: number) => Promise<void>;
  readonly gc?: Partial<CollectorSettings>;
  readonly hooks?: HookPoints;
  readonly wrapTrees?: (trees: CommittedTrees) => CommittedTrees;
}

/** Servers on one database and one object store, with real trees and a clock that only the test moves. */
export class GcWorld {
  readonly state = new MemState();
  readonly #mem: BlockAdapter;
  readonly #written = new Map<string, number>();
  /** When uploads in parts began. */
  readonly #begun = new Map<string, number>();
  readonly adapter: BlockAdapter;
  readonly #folder = tempDir();
  readonly #engines: Engine[] = [];
  readonly #trees: CommittedTrees[] = [];
  now: number;
  /** Uris in the order in which they went. */
  readonly deleted: string[] = [];

  /** On a real store the world begins today, and only the collector's own mark is dated by the world's clock. */
  constructor(real?: BlockAdapter) {
    this.#mem = real ?? createMemAdapter();
    this.now = real === undefined ? 1_700_000_000_000 : Date.now();
    this.adapter = real === undefined ? this.#dated((_name, call) => call()) : this.#claimed(real);
  }

  get kv(): KvStore {
    return createMemStore(this.state);
  }

  async engine(options: GcEngineOptions = {}): Promise<Engine> {
    const {
      wrapKv = (kv: KvStore) => kv,
      around,
      skew = 0,
      rest,
      gc,
      hooks,
      wrapTrees = (trees: CommittedTrees) => trees,
      deletesWhenLate = false,
    } = options;
    const folder = join(this.#folder, String(this.#engines.length));
    await mkdir(folder, { recursive: true });
    const blockStores = new BlockStores([
      around === undefined ? this.adapter : this.#dated(around, deletesWhenLate),
    ]);
    const trees = await createCommittedTrees({
      blockStores,
      cacheDir: folder,
      cacheSizeBytes: 50_000_000,
      rangeProportion: 0.9,
      metarangeProportion: 0.1,
      memoryCacheBytes: 10_000_000,
      minRangeSize: 0,
      maxRangeSize: 300,
      raggedness: 50_000,
      evict: false,
      worker: false,
    });
    this.#trees.push(trees);
    const engine = createEngine({
      kv: wrapKv(this.kv),
      blockStores,
      trees: wrapTrees(trees),
      cacheBus: new LocalCacheBus(),
      signingSecret: 'secret-key',
      clock: () => this.now + skew,
      hooks,
      settings: {
        gc: {
          ...defaultSettings.gc,
          cpuPercent: 100,
          deletesPerSecond: 0,
          folder: join(folder, 'gc'),
          ...gc,
        },
      },
      steadyTime: {
        now: () => this.now,
        rest: rest ?? ((milliseconds) => this.#pass(milliseconds)),
      },
    });
    this.#engines.push(engine);
    return engine;
  }

  async close(): Promise<void> {
    for (const engine of this.#engines) await engine.close();
    for (const trees of this.#trees) await trees.close();
  }

  /** Lets every run that waits happen. */
  async collect(engine: Engine): Promise<void> {
    const job = engine.jobs.find(({ name }) => name === 'collect-garbage');
    await job?.begin()({ mayGoOn: () => Promise.resolve(true) });
  }

  /** Keys below a namespace. */
  async keys(namespace: string): Promise<string[]> {
    const found: string[] = [];
    for await (const page of this.#mem.walk(`${namespace}/`)) {
      found.push(...page.map(({ relativeKey }) => relativeKey));
    }
    return found;
  }

  exists(namespace: string, identifier: string): Promise<boolean> {
    const identifierType = identifier.includes('://') ? 'full' : 'relative';
    return this.#mem.exists({ storageNamespace: namespace, identifier, identifierType });
  }

  modified(uri: string): number {
    return this.#written.get(uri) ?? 0;
  }

  async #pass(milliseconds: number): Promise<void> {
    this.now += milliseconds;
    await Promise.resolve();
  }

  #claimed(real: BlockAdapter): BlockAdapter {
    const properties: BlockAdapter['properties'] = async (pointer, options) => {
      const found = await real.properties(pointer, options);
      const isMark = pointer.identifier.endsWith('/owner.json');
      return isMark ? { ...found, lastModified: new Date(this.now) } : found;
    };
    return new Proxy(real, {
      get(target, name) {
        if (name === 'properties') return properties;
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
    });
  }

  /** The store's clock is the world's. */
  #dated(around: Around, deletesWhenLate = false): BlockAdapter {
    const mem = this.#mem;
    const uri = (pointer: ObjectPointer): string => mem.absoluteUri(pointer);
    const wrote = (pointer: ObjectPointer): Date => {
      this.#written.set(uri(pointer), this.now);
      return new Date(this.now);
    };
    const dateOf = (name: string): Date => new Date(this.#written.get(name) ?? 0);
    const gone = async (pointer: ObjectPointer): Promise<void> => {
      if (await mem.exists(pointer)) this.deleted.push(uri(pointer));
      await mem.delete(pointer);
    };
    const changed: Partial<BlockAdapter> = {
      put: (pointer, body, options) =>
        around(
          'put',
          async () => ({ ...(await mem.put(pointer, body, options)), lastModified: wrote(pointer) }),
          pointer,
        ),
      copy: (source, target) =>
        around(
          'copy',
          async () => ({ ...(await mem.copy(source, target)), lastModified: wrote(target) }),
          target,
        ),
      completeMultipart: (upload, parts) =>
        around(
          'completeMultipart',
          async () => {
            const joined = await mem.completeMultipart(upload, parts);
            // As stores do: a joined object is as old as its upload.
            this.#written.set(uri(upload.pointer), this.#begun.get(upload.uploadId) ?? this.now);
            return { ...joined, lastModified: dateOf(uri(upload.pointer)) };
          },
          upload.pointer,
        ),
      createMultipart: (pointer, options) =>
        around(
          'createMultipart',
          async () => {
            const uploadId = await mem.createMultipart(pointer, options);
            this.#begun.set(uploadId, this.now);
            return uploadId;
          },
          pointer,
        ),
      exists: (pointer) => around('exists', () => mem.exists(pointer), pointer),
      properties: (pointer, options) =>
        around(
          'properties',
          async () => ({ ...(await mem.properties(pointer, options)), lastModified: dateOf(uri(pointer)) }),
          pointer,
        ),
      delete: (pointer) => around('delete', () => gone(pointer), pointer),
      deleteMany: (pointers, options) =>
        around(
          'deleteMany',
          async () => {
            const failures: DeleteFailure[] = [];
            for (const pointer of pointers) {
              // Nothing comes between the question and the deed.
              const deleteOne = async (): Promise<void> => {
                const error = new BlockError('unavailable', 'too late');
                if (options?.mayGoOn?.() === false && !deletesWhenLate) failures.push({ pointer, error });
                else await gone(pointer);
              };
              await around('deleteOne', deleteOne, pointer);
            }
            return failures;
          },
          pointers,
        ),
      walk: async function* (start, options) {
        for await (const page of mem.walk(start, options)) {
          await around('walk', () => Promise.resolve(), start);
          yield page.map((object) => ({ ...object, lastModified: dateOf(object.uri) }));
        }
      },
    };
    return new Proxy(mem, {
      get(target, name) {
        const own: unknown = Reflect.get(changed, name);
        if (own !== undefined) return own;
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
    });
  }
}

/** What the log of events has not seen is kept. */
export async function tellEvents(world: GcWorld, engine: Engine, repository: string): Promise<void> {
  const { instanceUid } = await engine.repositories.get(repository);
  const partition = Buffer.from(`${repository}-${instanceUid}`);
  for await (const page of world.kv.scan(partition, { prefix: Buffer.from('outbox/') })) {
    for (const { key } of page) await world.kv.delete(partition, key);
  }
}
