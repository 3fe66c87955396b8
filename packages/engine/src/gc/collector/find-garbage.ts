import type { WalkedObject } from '@svc/block';
import { adapterOf, type EngineContext } from '../../context/engine-context.ts';
import type { GarbageClass } from '../../face/gc-runs.ts';
import type { RepositoryScope } from '../../store/scope.ts';
import { isTableKey, parseDataKey } from './data-key.ts';
import type { Held } from './held.ts';
import { shardOf } from './address-hash.ts';
import type { Marks, MarkSet } from './marks.ts';
import type { GcPlaces } from './places.ts';
import { Tally } from './tally.ts';
import { walkNamespace } from './walk-namespace.ts';

/** Sets of marks in memory at a time. */
export const loadedShards = 2;

/** What the store holds and nothing keeps. */
export interface FoundGarbage {
  readonly address: string;
  readonly size: number;
  readonly modified: number;
  readonly class: GarbageClass;
}

export interface FindOptions {
  readonly marks: Marks;
  /** Tables some commit reaches; undefined: tables are left alone. */
  readonly tables: ReadonlySet<string> | undefined;
  readonly cutoff: number;
  readonly tableCutoff: number;
  readonly held: Held;
  readonly objects: boolean;
  /** Waits until the store may be asked again. */
  readonly nextList: () => Promise<void>;
  readonly pause: () => Promise<void>;
}

/** What was seen on the way. */
export class Listing {
  readonly listed = new Tally();
  readonly live = new Tally();
  readonly unknown = new Tally();
  /** By the repository that uses it. */
  readonly held = new Map<string, Tally>();

  addHeld(repository: string, size: number): void {
    const tally = this.held.get(repository) ?? new Tally();
    tally.add(size);
    this.held.set(repository, tally);
  }
}

/** Lists the namespace and tells what is garbage, in the order of the store's listing. */
export async function* findGarbage(
  context: EngineContext,
  scope: RepositoryScope,
  places: GcPlaces,
  listing: Listing,
  options: FindOptions,
): AsyncGenerator<FoundGarbage> {
  const adapter = adapterOf(context, scope);
  const shards = new LoadedShards(options.marks);
  const tableFolder = `${scope.committed.metadataPrefix}/`;
  for await (const page of walkNamespace(adapter, scope.repository.storageNamespace)) {
    await options.pause();
    await options.nextList();
    for (const object of page) {
      const key = object.relativeKey;
      const data = parseDataKey(key);
      if (data !== undefined) {
        const garbage = judgeData(object, data, { shards, listing, options });
        if (garbage !== undefined) yield garbage;
      } else if (key.startsWith(tableFolder) && isTableKey(key.slice(tableFolder.length))) {
        const id = key.slice(tableFolder.length);
        const modified = object.lastModified.getTime();
        if (options.tables === undefined || options.tables.has(id) || modified >= options.tableCutoff)
          continue;
        yield { address: key, size: object.size, modified, class: 'tables' };
      } else if (!places.isOwnFile(key)) listing.unknown.add(object.size);
    }
  }
}

interface Judging {
  readonly shards: LoadedShards;
  readonly listing: Listing;
  readonly options: FindOptions;
}

function judgeData(
  { relativeKey: address, size, lastModified }: WalkedObject,
  data: { readonly partition: string; readonly madeAt: number },
  { shards, listing, options }: Judging,
): FoundGarbage | undefined {
  listing.listed.add(size);
  const modified = lastModified.getTime();
  const use = shards.of(data.partition).use(address);
  // Both times: what may still be linked was named lately, and what was written again is new whatever its name says.
  const isOld = data.madeAt < options.cutoff && modified < options.cutoff;
  if (use === 'active' || !isOld || !options.objects) {
    listing.live.add(size);
    return undefined;
  }
  const user = options.held.by(address);
  if (user !== undefined) {
    listing.addHeld(user, size);
    return undefined;
  }
  return { address, size, modified, class: use === 'inactive' ? 'expired' : 'uncommitted' };
}

/** A listing comes partition by partition, each in one shard. */
export class LoadedShards {
  readonly #marks: Marks;
  readonly #sets = new Map<number, MarkSet>();
  #last: { readonly partition: string; readonly set: MarkSet } | undefined;

  constructor(marks: Marks) {
    this.#marks = marks;
  }

  of(partition: string): MarkSet {
    if (this.#last?.partition === partition) return this.#last.set;
    const shard = shardOf(partition);
    const set = this.#sets.get(shard) ?? this.#marks.load(shard);
    this.#sets.delete(shard);
    this.#sets.set(shard, set);
    const [oldest] = this.#sets.keys();
    if (this.#sets.size > loadedShards && oldest !== undefined) this.#sets.delete(oldest);
    this.#last = { partition, set };
    return set;
  }
}
