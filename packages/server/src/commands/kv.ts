import { createReadStream, createWriteStream } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { repositoryMessage } from '@svc/encoding';
import type { KvStore } from '@svc/kv';
import type { GlobalOptions } from './global-options.ts';
import { readableValue } from './kv-value.ts';
import { withKv } from './open-command.ts';

/** One entry as text. Names that are not UTF-8 are written as base64 instead. */
export interface KvRecord {
  readonly partition?: string;
  readonly partition_base64?: string;
  readonly key?: string;
  readonly key_base64?: string;
  /** Base64. */
  readonly value: string;
}

interface Dump {
  readonly version: string;
  readonly timestamp: string;
  readonly entries: readonly KvRecord[];
}

const dumpVersion = '1.0';

const sections: Readonly<Record<string, readonly string[]>> = {
  auth: ['auth', 'basicAuth', 'aclauth'],
  pulls: ['pulls'],
  kv: ['kv-internal-metadata'],
};

function isText(bytes: Buffer): boolean {
  return Buffer.from(bytes.toString('utf8'), 'utf8').equals(bytes);
}

function recordOf(partition: Buffer, key: Buffer, value: Buffer): KvRecord {
  return {
    ...(isText(partition)
      ? { partition: partition.toString('utf8') }
      : { partition_base64: partition.toString('base64') }),
    ...(isText(key) ? { key: key.toString('utf8') } : { key_base64: key.toString('base64') }),
    value: value.toString('base64'),
  };
}

function bytesOf(text: string | undefined, base64: string | undefined, what: string): Buffer {
  if (base64 !== undefined) return Buffer.from(base64, 'base64');
  if (text === undefined || text === '') throw new Error(`an entry of the dump has no ${what}`);
  return Buffer.from(text, 'utf8');
}

/** One entry for a person to read; dumps keep the bytes. */
function print(partition: Buffer, key: Buffer, value: Buffer, pretty: boolean): void {
  const shown = {
    ...recordOf(partition, key, value),
    value: readableValue(partition.toString(), key.toString(), value),
  };
  process.stdout.write(`${JSON.stringify(shown, undefined, pretty ? 2 : undefined)}\n`);
}

export function kvGet(
  globals: GlobalOptions,
  partition: string,
  key: string,
  pretty: boolean,
): Promise<number> {
  return withKv(globals, async ({ kv }) => {
    const found = await kv.get(Buffer.from(partition), Buffer.from(key));
    if (found === undefined) {
      process.stderr.write(`svc: there is no key "${key}" in partition "${partition}"\n`);
      return 1;
    }
    print(Buffer.from(partition), Buffer.from(key), found.value, pretty);
    return 0;
  });
}

interface ScanFlags {
  readonly start?: string | undefined;
  readonly until?: string | undefined;
  readonly limit: number;
  readonly pretty: boolean;
}

export function kvScan(globals: GlobalOptions, partition: string, flags: ScanFlags): Promise<number> {
  return withKv(globals, async ({ kv }) => {
    const name = Buffer.from(partition);
    const until = flags.until === undefined ? undefined : Buffer.from(flags.until);
    const start = flags.start === undefined ? undefined : Buffer.from(flags.start);
    let left = flags.limit === 0 ? Infinity : flags.limit;
    for await (const page of kv.scan(name, { start })) {
      for (const { key, value } of page) {
        if (left-- <= 0 || (until !== undefined && Buffer.compare(key, until) >= 0)) return 0;
        print(name, key, value, flags.pretty);
      }
    }
    return 0;
  });
}

interface DumpFlags {
  readonly output?: string | undefined;
  readonly sections?: string | undefined;
  readonly all?: boolean | undefined;
  readonly repo?: string | undefined;
  readonly pretty: boolean;
}

export function kvDump(globals: GlobalOptions, flags: DumpFlags): Promise<number> {
  const selectors = [flags.sections, flags.all === true ? 'all' : undefined, flags.repo].filter(
    (one) => one !== undefined,
  );
  if (selectors.length > 1) throw new Error('--sections, --all and --repo exclude each other; give one');
  const wanted = partitionsOfSections(flags.sections ?? Object.keys(sections).join(','));
  return withKv(globals, async ({ kv }) => {
    const out =
      flags.output === undefined || flags.output === '-'
        ? process.stdout
        : createWriteStream(flags.output, { mode: 0o600 });
    const entries =
      flags.repo !== undefined
        ? repositoryEntries(kv, flags.repo)
        : partitionEntries(kv, flags.all === true ? kv.partitions() : toAsync(wanted));
    await writeDump(out, entries, flags.pretty);
    return 0;
  });
}

function partitionsOfSections(list: string): Buffer[] {
  return list.split(',').flatMap((section) => {
    const partitions = sections[section.trim()];
    if (partitions === undefined) {
      throw new Error(`unknown section "${section}"; there are ${Object.keys(sections).join(', ')}`);
    }
    return partitions.map((name) => Buffer.from(name));
  });
}

async function* toAsync(partitions: readonly Buffer[]): AsyncIterableIterator<Buffer> {
  yield* partitions;
}

async function* partitionEntries(
  kv: KvStore,
  partitions: AsyncIterable<Buffer>,
): AsyncIterableIterator<KvRecord> {
  for await (const partition of partitions) {
    for await (const page of kv.scan(partition)) {
      for (const { key, value } of page) yield recordOf(partition, key, value);
    }
  }
}

/** A repository's own record and everything in its partition. */
async function* repositoryEntries(kv: KvStore, id: string): AsyncIterableIterator<KvRecord> {
  const partition = Buffer.from('graveler');
  const key = Buffer.from(`repos/${id}`);
  const found = await kv.get(partition, key);
  if (found === undefined) throw new Error(`there is no repository "${id}"`);
  yield recordOf(partition, key, found.value);
  const { instanceUid } = repositoryMessage.decode(found.value);
  yield* partitionEntries(kv, toAsync([Buffer.from(`${id}-${instanceUid}`)]));
}

async function writeDump(out: Writable, entries: AsyncIterable<KvRecord>, pretty: boolean): Promise<void> {
  const write = (text: string): Promise<void> =>
    new Promise((resolve, reject) => out.write(text, (error) => (error ? reject(error) : resolve())));
  await write(`{"version":"${dumpVersion}","timestamp":"${new Date().toISOString()}","entries":[`);
  let first = true;
  for await (const entry of entries) {
    await write(`${first ? '' : ','}\n${JSON.stringify(entry, undefined, pretty ? 2 : undefined)}`);
    first = false;
  }
  await write('\n]}\n');
  if (out !== process.stdout) await new Promise<void>((resolve) => out.end(() => resolve()));
}

interface LoadFlags {
  readonly input?: string | undefined;
  readonly sections?: string | undefined;
  readonly strategy: string;
}

/** Writes a dump into the store. `skip` keeps what is there, `overwrite` replaces it. */
export async function kvLoad(globals: GlobalOptions, flags: LoadFlags): Promise<number> {
  if (flags.strategy !== 'skip' && flags.strategy !== 'overwrite') {
    throw new Error(`unknown strategy "${flags.strategy}"; use skip or overwrite`);
  }
  const only =
    flags.sections === undefined ? undefined : new Set(partitionsOfSections(flags.sections).map(String));
  const dump = await readDump(
    flags.input === undefined || flags.input === '-' ? process.stdin : createReadStream(flags.input),
  );
  return withKv(
    globals,
    async ({ kv }) => {
      let written = 0;
      let skipped = 0;
      for (const entry of dump.entries) {
        const partition = bytesOf(entry.partition, entry.partition_base64, 'partition');
        if (only !== undefined && !only.has(partition.toString('utf8'))) continue;
        const key = bytesOf(entry.key, entry.key_base64, 'key');
        const value = Buffer.from(entry.value, 'base64');
        if (flags.strategy === 'overwrite') await kv.set(partition, key, value);
        else if (!(await kv.setIf(partition, key, value, 'absent'))) {
          skipped++;
          continue;
        }
        written++;
      }
      process.stdout.write(`${written} entries written, ${skipped} skipped\n`);
      return 0;
    },
    { alone: true },
  );
}

async function readDump(input: Readable): Promise<Dump> {
  const chunks: Buffer[] = [];
  for await (const chunk of input) chunks.push(chunk as Buffer);
  const dump = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Dump;
  if (dump.version !== dumpVersion) {
    throw new Error(`the dump has version "${dump.version}"; this program reads ${dumpVersion}`);
  }
  return dump;
}
