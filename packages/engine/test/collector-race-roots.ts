import {
  bindingMessage,
  branchMessage,
  commitMessage,
  decodeEntry,
  decodeStagedEntry,
  gcKeepMessage,
  moveMessage,
  tagMessage,
  timestampToMillis,
  uploadMessage,
} from '@svc/encoding';
import { readOutline } from '../src/committed/format/tree-outline.ts';
import type { Engine } from '../src/engine.ts';
import type { GcWorld } from './gc-world.ts';

async function* records(
  world: GcWorld,
  partition: string,
  prefix: string,
): AsyncGenerator<{ name: string; value: Buffer }> {
  for await (const page of world.kv.scan(Buffer.from(partition), { prefix: Buffer.from(prefix) })) {
    for (const { key, value } of page) yield { name: key.subarray(prefix.length).toString(), value };
  }
}

async function partitionOf(engine: Engine, repository: string): Promise<string> {
  return `${repository}-${(await engine.repositories.get(repository)).instanceUid}`;
}

/** Whatever keeps data, read the plain way: what it is, and the ref to read it by. */
export async function readRaceRoots(
  world: GcWorld,
  engine: Engine,
  repository: string,
): Promise<[name: string, ref: string][]> {
  const partition = await partitionOf(engine, repository);
  const roots: [string, string][] = [];
  for await (const { value } of records(world, partition, 'branches/')) {
    const { id, commitId } = branchMessage.decode(value);
    roots.push([`branch ${id}`, commitId], [`what is staged on ${id}`, id]);
  }
  for await (const { value } of records(world, partition, 'tags/')) {
    const { id, commitId } = tagMessage.decode(value);
    roots.push([`tag ${id}`, commitId]);
  }
  for await (const { value } of records(world, partition, 'moves/')) {
    const move = moveMessage.decode(value);
    if (move.lossy && move.old.length > 0) roots.push([`lost of ${move.refId}`, move.old.toString('hex')]);
  }
  for await (const { name, value } of records(world, partition, 'gc/keeps/')) {
    if (timestampToMillis(gcKeepMessage.decode(value).until) > world.now) roots.push([`kept ${name}`, name]);
  }
  const { items } = await engine.bindings.listAliases({ repository, amount: 1000 });
  for (const { bucket, commitId } of items) {
    if (commitId !== undefined) roots.push([`alias ${bucket}`, commitId]);
  }
  for await (const { name, value } of records(world, 'graveler', 'views/')) {
    const view = bindingMessage.decode(value);
    if (view.repository === repository) roots.push([`view ${name}`, view.commitId]);
  }
  return roots;
}

/** The parents of every commit there is. */
export async function parentsOf(
  world: GcWorld,
  engine: Engine,
  repository: string,
): Promise<Map<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>();
  for await (const { name, value } of records(world, await partitionOf(engine, repository), 'commits/')) {
    found.set(name, commitMessage.decode(value).parents);
  }
  return found;
}

/** The tables of every commit there is, and the commit that has them. */
export async function treesOf(
  world: GcWorld,
  engine: Engine,
  repository: string,
): Promise<Map<string, string>> {
  const { storageNamespace } = await engine.repositories.get(repository);
  const tables = new Map<string, string>();
  for await (const { name, value } of records(world, await partitionOf(engine, repository), 'commits/')) {
    const { metaRangeId } = commitMessage.decode(value);
    if (metaRangeId === '' || tables.has(metaRangeId)) continue;
    tables.set(metaRangeId, name);
    if (!(await world.exists(storageNamespace, `_svc/${metaRangeId}`))) continue;
    const identifier = `_svc/${metaRangeId}`;
    const body = await world.adapter.get({ storageNamespace, identifier, identifierType: 'relative' });
    const outline = readOutline(body.bytes ?? Buffer.alloc(0));
    for (const range of outline?.ranges ?? []) tables.set(range.id, name);
  }
  return tables;
}

export async function branchTokens(
  world: GcWorld,
  engine: Engine,
  repository: string,
  branch: string,
): Promise<{ tokens: string[] }> {
  for await (const { value } of records(world, await partitionOf(engine, repository), `branches/${branch}`)) {
    const { id, stagingToken, sealedTokens } = branchMessage.decode(value);
    if (id === branch) return { tokens: [stagingToken, ...sealedTokens] };
  }
  return { tokens: [] };
}

/** Every address that some staged value has, also those that a newer one hides. */
export async function stagedAddresses(world: GcWorld, tokens: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const token of tokens) {
    for await (const { value } of records(world, token, '')) {
      const staged = decodeStagedEntry(value);
      if (staged.identity.length > 0) found.push(decodeEntry(staged.data).address);
    }
  }
  return found;
}

/** Addresses of uploads in parts that nobody has ended: one may have died between joining and staging. */
export async function openUploads(world: GcWorld): Promise<string[]> {
  const found: string[] = [];
  for await (const { value } of records(world, 'multiparts', '')) {
    const upload = uploadMessage.decode(value);
    if (upload.completedAt === undefined) found.push(upload.physicalAddress);
  }
  return found;
}
