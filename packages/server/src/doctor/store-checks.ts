import { randomUUID } from 'node:crypto';
import type { BlockAdapter, BlockStores } from '@svc/block';
import { repositoryMessage } from '@svc/encoding';
import type { KvStore } from '@svc/kv';
import { currentSchemaVersion, readSchemaVersion } from '../compose/schema-version.ts';
import { errorText } from '../logging/index.ts';
import { readMarker } from '../migration/marker.ts';
import { failure, ok, warning, type Finding } from './finding.ts';

const probePartition = Buffer.from('kv-internal-metadata');
/** Signed requests are refused by stores whose clocks differ by a quarter of an hour. */
const mostSkewMs = 60_000;
const slowMs = 250;

/** Reads, writes and deletes one entry. */
export async function checkKeyValueStore(kv: KvStore): Promise<Finding[]> {
  const check = `key-value store (${kv.type})`;
  try {
    const began = performance.now();
    const found = await readSchemaVersion(kv);
    const took = Math.round(performance.now() - began);
    const marker = await readMarker(kv);
    const key = Buffer.from(`svc/doctor/${randomUUID()}`);
    await kv.set(probePartition, key, Buffer.from('probe'));
    const isSame = (await kv.get(probePartition, key))?.value.toString() === 'probe';
    await kv.delete(probePartition, key);
    if (!isSame) return [failure(check, 'a read does not see the write before it', 'use a consistent store')];
    return [speed(check, took), ...schema(check, found), ...unfinished(check, marker?.from)];
  } catch (error) {
    return [failure(check, errorText(error), 'correct the keys below "database", or the rights of its user')];
  }
}

function speed(check: string, took: number): Finding {
  const text = `reads, writes and deletes; a read took ${took} ms`;
  if (took <= slowMs) return ok(check, text);
  return warning(check, text, 'every request waits for it: look at its load and the network');
}

function schema(check: string, found: number | undefined): Finding[] {
  if (found === undefined) {
    return [warning(check, 'it is new: nobody can log in', 'run "svc setup --user-name admin"')];
  }
  if (found === currentSchemaVersion) return [ok(check, `schema version ${found}`)];
  const text = `schema version ${found}; this program reads ${currentSchemaVersion}`;
  return [failure(check, text, found > currentSchemaVersion ? 'use a newer svc' : 'run "svc migrate up"')];
}

function unfinished(check: string, from: string | undefined): Finding[] {
  if (from === undefined) return [];
  return [failure(check, `its migration from ${from} has not finished`, 'run "svc migrate store" again')];
}

/** Repositories must fit their stores; each store is tried in the namespace of one of them. */
export async function checkBlockStores(kv: KvStore, blocks: BlockStores): Promise<Finding[]> {
  const namespaces = new Map<BlockAdapter, string>();
  const findings: Finding[] = [];
  let repositories = 0;
  for await (const page of kv.scan(Buffer.from('graveler'), { prefix: Buffer.from('repos/') })) {
    for (const { value } of page) {
      const { id, storageId, storageNamespace } = repositoryMessage.decode(value);
      repositories++;
      try {
        const adapter = blocks.get(storageId);
        adapter.validateNamespace(storageNamespace);
        if (!namespaces.has(adapter)) namespaces.set(adapter, storageNamespace);
      } catch (error) {
        findings.push(
          failure(`repository ${id}`, errorText(error), `configure the store of ${storageNamespace}`),
        );
      }
    }
  }
  findings.push(ok('repositories', String(repositories)));
  for (const adapter of blocks.list()) findings.push(...(await tryStore(adapter, namespaces.get(adapter))));
  return findings;
}

/** Writes, reads and deletes one object, and compares the clocks. */
export async function tryStore(
  adapter: BlockAdapter,
  namespace: string | undefined,
  now: () => number = Date.now,
): Promise<Finding[]> {
  const { storageId, productionSafe } = adapter.info;
  const check = `block store${storageId && ` ${storageId}`} (${adapter.type})`;
  if (!productionSafe) {
    return [warning(check, 'it is not for production: its data is lost', 'set blockstore.type')];
  }
  if (namespace === undefined) return [ok(check, 'opened; it holds no repository to try it in')];
  const pointer = {
    storageNamespace: namespace,
    identifier: `data/doctor/${randomUUID()}`,
    identifierType: 'relative',
  } as const;
  try {
    const before = now();
    await adapter.put(pointer, Buffer.from('probe'));
    const { lastModified } = await adapter.properties(pointer, { skipEtag: true });
    const after = now();
    await adapter.delete(pointer);
    const skew = Math.max(before - lastModified.getTime(), lastModified.getTime() - after, 0);
    const tried = ok(check, `writes, reads and deletes in ${namespace}`);
    if (skew <= mostSkewMs) return [tried, ok('clocks', `this machine and the ${adapter.type} store agree`)];
    const text = `this machine and the ${adapter.type} store differ by ${Math.round(skew / 1000)} s`;
    return [tried, failure('clocks', text, 'run a time service (NTP) on this machine')];
  } catch (error) {
    return [
      failure(
        check,
        `${namespace}: ${errorText(error)}`,
        'give its credentials the right to read, write, list and delete there, or correct the keys below "blockstore"',
      ),
    ];
  }
}
