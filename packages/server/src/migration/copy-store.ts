import type { KvEntry, KvStore } from '@svc/kv';
import { isMarker, readMarker, removeMarker, writeMarker } from './marker.ts';

export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

export interface CopyParts {
  readonly source: KvStore;
  readonly target: KvStore;
  /** Names the source in the target's marker; without secrets. */
  readonly from: string;
  readonly progress: (text: string) => void;
}

const progressMs = 2000;

/** Copies every entry of a store nobody writes into an empty one, and compares both in the end. Goes on where it was interrupted. */
export async function copyStore(parts: CopyParts): Promise<number> {
  const { source, target } = parts;
  const marker = await readMarker(target);
  if (marker === undefined) await requireEmpty(target);
  else if (marker.from !== parts.from) {
    throw new MigrationError(
      `the store is being filled from ${marker.from}, not from ${parts.from}; finish that one, or empty the store`,
    );
  }
  const total = await countFitting(source, target);
  if (marker === undefined) await writeMarker(target, { from: parts.from, partition: '', key: '' });
  await copyEntries(parts, total, marker);
  await compare(source, target);
  await removeMarker(target);
  return total;
}

async function requireEmpty(target: KvStore): Promise<void> {
  for await (const partition of target.partitions()) {
    throw new MigrationError(
      `the store to copy into is not empty (it has the partition ${JSON.stringify(partition.toString())}); give an empty one`,
    );
  }
}

/** Before anything is written: what the target cannot hold would be missing in the end. */
async function countFitting(source: KvStore, target: KvStore): Promise<number> {
  let total = 0;
  for await (const { partition, entries } of pagesOf(source)) {
    total += entries.length;
    const most = target.maxKeyBytes(partition);
    const long = entries.find(({ key }) => key.length > most);
    if (long === undefined) continue;
    throw new MigrationError(
      `a key of ${long.key.length} bytes in partition ${JSON.stringify(partition.toString())} is longer than ${target.type} can hold there (${most}): ${JSON.stringify(long.key.toString())}`,
    );
  }
  return total;
}

async function copyEntries(
  { source, target, from, progress }: CopyParts,
  total: number,
  marker: { readonly partition: string; readonly key: string } | undefined,
): Promise<void> {
  const done = {
    partition: Buffer.from(marker?.partition ?? '', 'base64'),
    key: Buffer.from(marker?.key ?? '', 'base64'),
  };
  let copied = 0;
  let told = Date.now();
  for await (const { partition, entries } of pagesOf(source)) {
    const order = Buffer.compare(partition, done.partition);
    const fresh = entries.filter(
      ({ key }) => order > 0 || (order === 0 && Buffer.compare(key, done.key) > 0),
    );
    copied += entries.length;
    const last = fresh.at(-1);
    if (last === undefined) continue;
    await target.setMany(partition, fresh);
    await writeMarker(target, {
      from,
      partition: partition.toString('base64'),
      key: last.key.toString('base64'),
    });
    if (Date.now() - told < progressMs) continue;
    told = Date.now();
    progress(`${copied} of ${total} entries`);
  }
}

/** Every entry of one is an entry of the other. */
async function compare(source: KvStore, target: KvStore): Promise<void> {
  const [expected, found] = [entriesOf(source), entriesOf(target)];
  for (;;) {
    const [one, other] = await Promise.all([expected.next(), found.next()]);
    if (one.done === true && other.done === true) return;
    const isEqual =
      one.done !== true &&
      other.done !== true &&
      one.value.partition.equals(other.value.partition) &&
      one.value.key.equals(other.value.key) &&
      one.value.value.equals(other.value.value);
    if (isEqual) continue;
    const { partition, key } = (one.done === true ? other.value : one.value) as Entry;
    throw new MigrationError(
      `the copy differs from its source at ${JSON.stringify(key.toString())} in partition ${JSON.stringify(partition.toString())}: something wrote to one of them; stop every server of both, empty the store and begin again`,
    );
  }
}

interface Entry extends KvEntry {
  readonly partition: Buffer;
}

async function* pagesOf(
  store: KvStore,
): AsyncGenerator<{ readonly partition: Buffer; readonly entries: readonly KvEntry[] }> {
  for await (const partition of store.partitions()) {
    for await (const page of store.scan(partition)) {
      const entries = page.filter(({ key }) => !isMarker(partition, key));
      if (entries.length > 0) yield { partition, entries };
    }
  }
}

async function* entriesOf(store: KvStore): AsyncGenerator<Entry> {
  for await (const { partition, entries } of pagesOf(store)) {
    for (const { key, value } of entries) yield { partition, key, value };
  }
}
