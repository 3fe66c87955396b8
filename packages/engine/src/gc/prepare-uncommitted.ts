import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseXid, partitionTimeBase, timestampToMillis } from '@svc/encoding';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { invalid } from '../context/refusals.ts';
import type { GcUncommitted } from '../face/gc.ts';
import { trimSlash } from '../repositories/namespaces.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { completedLifetimeMs, listUploadRecords } from '../uploads/upload-records.ts';
import type { AddressFile } from './address-file.ts';
import { checkUsedByNobodyElse } from './foreign.ts';
import { checkCollectable, noteExternalCall } from './gc-state.ts';
import { readStagedAddresses, type StagedPage } from './staged-addresses.ts';

/** Where the next page starts. */
interface Continuation {
  readonly branch: string;
  readonly path: string;
  readonly runId: string;
}

/**
 * Writes one page of the addresses that uncommitted objects of any branch use. Collectors keep only the last answer's
 * location, and delete everything staged when it names nothing: so all pages name the same folder, and the last one
 * always puts a file there.
 */
export async function prepareGcUncommitted(
  context: EngineContext,
  scope: RepositoryScope,
  token: string | undefined,
): Promise<GcUncommitted> {
  const start = token === undefined || token === '' ? undefined : decodeToken(token);
  await checkCollectable(context, scope);
  await checkUsedByNobodyElse(context, scope);
  await noteExternalCall(context, scope, { begins: start === undefined, continues: start?.runId });
  const runId = start?.runId ?? context.xids.nextDescending(partitionTimeBase);
  const folder = `${scope.committed.metadataPrefix}/retention/gc/uncommitted/${runId}/uncommitted`;
  const location = `${trimSlash(scope.repository.storageNamespace)}/${folder}`;
  const scratch = await mkdtemp(join(tmpdir(), 'svc-gc-'));
  try {
    const path = join(scratch, 'addresses');
    const { AddressFile } = await import('./address-file.ts');
    const file = new AddressFile(path);
    const next = await writeAddresses(context, scope, file, start);
    await file.finish();
    if (file.rows > 0 || next === undefined) {
      const { storageNamespace } = scope.repository;
      await adapterOf(context, scope).put(
        { storageNamespace, identifier: `${folder}/${context.xids.next()}`, identifierType: 'relative' },
        { stream: createReadStream(path), size: (await stat(path)).size },
      );
    }
    // A restore or a deletion that began meanwhile has taken branches from under the listing.
    await checkCollectable(context, scope);
    return { runId, location, continuationToken: next && encodeToken({ ...next, runId }) };
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
  const page: StagedPage = {
    async add({ address, modified }) {
      const written = await file.add(address, modified);
      if (written !== undefined && written > ugcPrepareMaxFileSize) full = true;
    },
    isOver: () => full || Date.now() > deadline,
    keys: 0,
  };
  // Before what is staged: an upload that completes meanwhile is found here or there.
  if (start === undefined) await writeUploads(context, scope, file);
  for await (const branch of branchesFrom(context, scope, start?.branch)) {
    const from = branch === start?.branch ? Buffer.from(start.path) : undefined;
    const next = await readStagedAddresses(context, scope, branch, from, page);
    if (next !== undefined) return { branch, path: next.toString() };
  }
  if (start !== undefined) await writeUploads(context, scope, file);
  return undefined;
}

/** Only names: a record that was listed a while ago tells tokens that are gone. */
async function* branchesFrom(
  context: EngineContext,
  scope: RepositoryScope,
  first: string | undefined,
): AsyncGenerator<string> {
  if (first !== undefined) yield first;
  for await (const { id } of context.branches.list(scope, '', first)) yield id;
}

/**
 * The objects of multipart uploads: a store dates one by the start of its upload, so it may look old before it is staged.
 */
async function writeUploads(
  context: EngineContext,
  scope: RepositoryScope,
  file: AddressFile,
): Promise<void> {
  for await (const data of listUploadRecords(context)) {
    if (data.repository !== scope.repository.id) continue;
    const { completedAt, creationDate } = data;
    if (completedAt !== undefined && context.clock() - timestampToMillis(completedAt) > completedLifetimeMs) {
      continue;
    }
    await file.add(data.physicalAddress, creationDate.seconds);
  }
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
