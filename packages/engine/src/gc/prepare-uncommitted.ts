import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  addressRelative,
  decodeEntry,
  decodeStagedEntry,
  parseXid,
  partitionTimeBase,
  type Entry,
} from '@svc/encoding';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { invalid } from '../context/refusals.ts';
import type { GcUncommitted } from '../face/gc.ts';
import { trimSlash } from '../repositories/namespaces.ts';
import { TokenScan } from '../staging/token-scan.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { AddressFile } from './address-file.ts';

/** Where the next page starts. */
interface Continuation {
  readonly branch: string;
  readonly path: string;
  readonly runId: string;
}

/** Writes one page of the addresses that uncommitted objects of any branch use. */
export async function prepareGcUncommitted(
  context: EngineContext,
  scope: RepositoryScope,
  token: string | undefined,
): Promise<GcUncommitted> {
  const start = token === undefined || token === '' ? undefined : decodeToken(token);
  const runId = start?.runId ?? context.xids.nextDescending(partitionTimeBase);
  const folder = `${scope.committed.metadataPrefix}/retention/gc/uncommitted/${runId}/uncommitted`;
  const scratch = await mkdtemp(join(tmpdir(), 'svc-gc-'));
  try {
    const path = join(scratch, 'addresses');
    const file = new AddressFile(path);
    const next = await writeAddresses(context, scope, file, start);
    await file.finish();
    const continuationToken = next === undefined ? undefined : encodeToken({ ...next, runId });
    if (file.rows === 0) return { runId, location: '', continuationToken };
    const { storageNamespace } = scope.repository;
    await adapterOf(context, scope).put(
      { storageNamespace, identifier: `${folder}/${context.xids.next()}`, identifierType: 'relative' },
      { stream: createReadStream(path), size: (await stat(path)).size },
    );
    return { runId, location: `${trimSlash(storageNamespace)}/${folder}`, continuationToken };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Fills the file until it is large enough or time is up; answers where to go on. */
async function writeAddresses(
  context: EngineContext,
  scope: RepositoryScope,
  file: AddressFile,
  start: Continuation | undefined,
): Promise<{ branch: string; path: string } | undefined> {
  const { ugcPrepareIntervalMs, ugcPrepareMaxFileSize } = context.settings;
  const deadline = Date.now() + ugcPrepareIntervalMs;
  let full = false;
  let seen = 0;
  for await (const branch of context.branches.list(scope)) {
    if (start !== undefined && Buffer.compare(Buffer.from(branch.id), Buffer.from(start.branch)) < 0)
      continue;
    const from = branch.id === start?.branch ? Buffer.from(start.path) : undefined;
    const tokens = [branch.stagingToken, ...branch.sealedTokens].map((name) => Buffer.from(name));
    let previous: Buffer | undefined;
    for await (const { key, value } of everyStagedValue(context, tokens, from)) {
      // A page ends between keys, so that a continuation names the next key and repeats nothing.
      const isNewKey = previous === undefined || !previous.equals(key);
      // At least one key a page, or a short interval would never get anywhere.
      const isOver = seen > 0 && (full || Date.now() > deadline);
      if (isNewKey && isOver) return { branch: branch.id, path: key.toString() };
      seen += 1;
      previous = key;
      const entry = stagedEntry(value);
      const address = entry === undefined ? undefined : relativeAddress(scope, entry);
      if (entry === undefined || address === undefined) continue;
      const written = await file.add(address, entry.lastModified.seconds);
      if (written !== undefined && written > ugcPrepareMaxFileSize) full = true;
    }
  }
  return undefined;
}

/**
 * Every value of every token in key order, also those a newer token hides: a reader may still resolve to one of
 * them, and an identical re-upload shows as no change although its data is the one being read.
 */
async function* everyStagedValue(
  context: EngineContext,
  tokens: readonly Buffer[],
  from: Buffer | undefined,
): AsyncGenerator<{ key: Buffer; value: Buffer }> {
  const live: TokenScan[] = [];
  for (const token of tokens) {
    const scan = new TokenScan(context.kv, token, from);
    if (await scan.next()) live.push(scan);
  }
  try {
    while (live.length > 0) {
      let at = 0;
      for (const [index, scan] of live.entries()) {
        if (Buffer.compare(scan.key, live[at]?.key ?? scan.key) < 0) at = index;
      }
      const smallest = live[at];
      if (smallest === undefined) return;
      yield { key: smallest.key, value: smallest.value };
      if (!(await smallest.next())) live.splice(at, 1);
    }
  } finally {
    for (const scan of live) scan.close();
  }
}

function stagedEntry(value: Buffer): Entry | undefined {
  const staged = decodeStagedEntry(value);
  return staged.identity.length === 0 ? undefined : decodeEntry(staged.data);
}

/** The address relative to the namespace; undefined when the data lies outside of it. */
function relativeAddress(scope: RepositoryScope, entry: Entry): string | undefined {
  if (entry.addressType === addressRelative) return entry.address;
  const namespace = `${trimSlash(scope.repository.storageNamespace)}/`;
  if (entry.address.startsWith(namespace)) return entry.address.slice(namespace.length);
  return entry.address.includes('://') ? undefined : entry.address;
}

function encodeToken(next: Continuation): string {
  const json = JSON.stringify({ branch: next.branch, path: next.path, run_id: next.runId, key: '' });
  return Buffer.from(json).toString('base64');
}

export function decodeToken(token: string): Continuation {
  const refusal = invalid('invalid continuation token: start again without one');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(token)) throw refusal;
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(token, 'base64').toString());
  } catch {
    throw refusal;
  }
  const fields = value as Partial<Record<'branch' | 'path' | 'run_id', unknown>> | null;
  const { branch, path, run_id: runId } = fields ?? {};
  if (typeof branch !== 'string' || typeof path !== 'string' || typeof runId !== 'string') throw refusal;
  // The run id becomes part of an object's name.
  if (parseXid(runId) === undefined) throw refusal;
  return { branch, path, runId };
}
