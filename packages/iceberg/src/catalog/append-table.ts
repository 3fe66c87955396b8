import { randomUUID } from 'node:crypto';
import { and, arn, one, type Requirement } from '@svc/auth';
import { EngineError, type Addition, type Conflict, type Engine, type Resolution } from '@svc/engine';
import type { Reader } from '../call.ts';
import { badRequest, IcebergError } from '../errors/iceberg-error.ts';
import { writeJson, type JsonObject } from '../json.ts';
import { readManifestList, writeManifestList, type ManifestFile } from '../manifests/manifest-list.ts';
import { appendedSnapshots, summaryAfter } from '../metadata/appended-snapshots.ts';
import type { Snapshot, TableMetadata } from '../metadata/table-metadata.ts';
import { applyUpdates } from '../metadata/updates.ts';
import { textIn, type Id } from '../request/fields.ts';
import { locationOf, pathOf } from './locations.ts';
import { readBytes, type Shown } from './records.ts';
import { nextMetadata, tableAt, type Table } from './table-records.ts';

export interface AppendTable {
  readonly engine: Engine;
  readonly repository: string;
  readonly source: string;
  readonly destination: string;
  /** Of the pointer of the table, which both sides have changed. */
  readonly path: string;
  readonly ensure: (requirement: Requirement) => Promise<void>;
}

/** How a merge gets the rows of both sides: the pointer it takes, and the files which that shows. */
export interface AppendedTable {
  readonly resolution: Resolution & { readonly path: string };
  readonly additions: readonly Addition[];
}

/** Appends of one side that are made again one by one. */
const maxSnapshots = 1000;

/**
 * Makes the appends of the source again on top of the table of the destination. Nothing is changed before a merge takes
 * it; a table that one of them did more to than append is refused.
 */
export async function appendTable(options: AppendTable): Promise<AppendedTable> {
  try {
    return await append(options);
  } catch (error) {
    if (!(error instanceof IcebergError) || error.status >= 500) throw error;
    throw new EngineError('invalid', `the rows of both sides cannot be put together: ${error.message}`, {
      subject: 'object',
      cause: error,
    });
  }
}

async function append(options: AppendTable): Promise<AppendedTable> {
  const { engine, repository, path, ensure } = options;
  const right = (action: string): Requirement => one(action, arn.object(repository, path));
  await ensure(and(right('fs:ReadObject'), right('fs:WriteObject')));
  const { conflict, commits } = await findConflict(options);
  const reader: Reader = { ensure, services: { engine } };
  const sideAt = async (commit: string): Promise<Side | undefined> => {
    const shown = { repository, shown: commit };
    const table = commit === '' ? undefined : await tableAt(reader, shown, path);
    return table && { reader, shown, table };
  };
  const [base, source, destination] = await Promise.all(commits.map(sideAt));
  if (source === undefined || destination === undefined) throw badRequest('one side removed it');
  if (base === undefined) throw badRequest('each side created a table of its own');
  const added = appendedSnapshots(options.source, base.table.metadata, source.table.metadata);
  const others = appendedSnapshots(options.destination, base.table.metadata, destination.table.metadata);
  if (added.length > maxSnapshots) {
    throw badRequest(`${options.source} made more than ${maxSnapshots} appends`);
  }
  const atBase = await currentManifests(base);
  const head = await currentManifests(destination);
  requireAppends(options.destination, atBase, head, new Set(others.map((each) => each['snapshot-id'])));
  const files = new NewFiles(options);
  const rebased = await rebase(options, { source, destination, added, atBase, head, files });
  const next = nextMetadata(repository, rebased, destination.table);
  await files.add(next.path, Buffer.from(writeJson(next.json)), 'application/json');
  const pointer = Buffer.from(writeJson(next.pointer));
  const object = await files.store(path, pointer, 'application/json');
  return {
    resolution: { path, take: 'object', conflictId: conflict.conflictId, object },
    additions: files.added,
  };
}

async function findConflict({ engine, repository, source, destination, path }: AppendTable): Promise<{
  conflict: Conflict;
  commits: [base: string, source: string, destination: string];
}> {
  const page = await engine.merges.conflicts({ repository, source, destination, prefix: path, amount: 1 });
  const conflict = page.items.find((each) => each.path === path);
  if (conflict === undefined) throw badRequest('there is no conflict');
  const { baseCommitId, sourceCommitId, destinationCommitId } = page;
  return { conflict, commits: [baseCommitId, sourceCommitId, destinationCommitId] };
}

/** The table as one side has it. */
interface Side {
  readonly reader: Reader;
  readonly shown: Shown;
  readonly table: Table;
}

function currentManifests(side: Side): Promise<ManifestFile[]> {
  const { metadata } = side.table;
  const current = metadata.snapshots.find((each) => each['snapshot-id'] === metadata['current-snapshot-id']);
  return current === undefined ? Promise.resolve([]) : manifestsOf(side, current);
}

async function manifestsOf({ reader, shown }: Side, snapshot: Snapshot): Promise<ManifestFile[]> {
  const location = textIn(snapshot, 'manifest-list');
  const path = pathOf(shown.repository, location);
  await reader.ensure(one('fs:ReadObject', arn.object(shown.repository, path)));
  const stored = await readBytes(reader.services.engine, shown, path);
  if (stored === undefined) throw badRequest(`${location} is not there`);
  return readManifestList(stored.bytes);
}

/** The manifests that are new, all of which only add files. */
function requireAppends(
  branch: string,
  before: readonly ManifestFile[],
  after: readonly ManifestFile[],
  snapshots: ReadonlySet<Id>,
): ManifestFile[] {
  const [was, is] = [before, after].map((list) => new Set(list.map(({ path }) => path)));
  if (before.some(({ path }) => is?.has(path) !== true)) {
    throw badRequest(`${branch} rewrote the manifests of the table`);
  }
  const added = after.filter(({ path }) => was?.has(path) !== true);
  const isPlain = (manifest: ManifestFile): boolean =>
    manifest.content === 0 &&
    manifest.existingFiles === 0 &&
    manifest.deletedFiles === 0 &&
    snapshots.has(manifest.addedSnapshotId);
  if (!added.every(isPlain)) throw badRequest(`${branch} did more than append files`);
  return added;
}

interface Rebase {
  readonly source: Side;
  readonly destination: Side;
  /** By the source, oldest first. */
  readonly added: readonly Snapshot[];
  readonly atBase: readonly ManifestFile[];
  readonly head: readonly ManifestFile[];
  readonly files: NewFiles;
}

/**
 * Each append keeps its snapshot id, which its manifests hold, and gets a new place in the sequence: files inherit their
 * sequence number from the list. (Those that say one themselves come before the rest, as nobody deleted rows meanwhile.)
 */
async function rebase(
  { repository, source: branch }: AppendTable,
  { source, destination, added, atBase, head, files }: Rebase,
): Promise<TableMetadata> {
  const { metadata } = destination.table;
  const now = Date.now();
  const folder = pathOf(repository, metadata.location);
  const formatVersion = metadata['format-version'];
  const main = metadata.refs['main'] ?? { type: 'branch' };
  let sequence = BigInt(metadata['last-sequence-number']);
  let rowId = BigInt(metadata['next-row-id'] ?? 0);
  let parent = metadata.snapshots.find((each) => each['snapshot-id'] === metadata['current-snapshot-id']);
  let before = atBase;
  let list = head;
  if (
    formatVersion >= 3 &&
    head.some(({ content, firstRowId }) => content === 0 && firstRowId === undefined)
  ) {
    throw badRequest('rows of the destination have no ids yet: append to it there first');
  }
  const updates: JsonObject[] = [];
  for (const snapshot of added) {
    const id = snapshot['snapshot-id'];
    const after = await manifestsOf(source, snapshot);
    const manifests = requireAppends(branch, before, after, new Set([id]));
    sequence += 1n;
    const firstRowId = rowId;
    const placed = manifests.map((manifest) => {
      const first = rowId;
      rowId += BigInt(manifest.addedRows);
      return { ...manifest, sequenceNumber: sequence, firstRowId: formatVersion >= 3 ? first : undefined };
    });
    list = [...placed, ...list];
    const path = `${folder}/metadata/snap-${id}-0-${randomUUID()}.avro`;
    const header = {
      formatVersion,
      snapshotId: id,
      parentId: parent?.['snapshot-id'],
      sequenceNumber: sequence,
    };
    await files.add(path, writeManifestList(list, header), 'application/octet-stream');
    const made: Snapshot = {
      ...snapshot,
      'parent-snapshot-id': parent?.['snapshot-id'],
      'sequence-number': Number(sequence),
      'timestamp-ms': Math.max(now, metadata['last-updated-ms']),
      'manifest-list': locationOf(repository, path),
      summary: summaryAfter(parent, snapshot),
      ...(formatVersion >= 3 && {
        'first-row-id': Number(firstRowId),
        'added-rows': Number(rowId - firstRowId),
      }),
    };
    updates.push({ action: 'add-snapshot', snapshot: made });
    updates.push({ ...main, action: 'set-snapshot-ref', 'ref-name': 'main', 'snapshot-id': id });
    before = after;
    parent = made;
  }
  return applyUpdates(metadata, updates, { now, isNew: false, checkLocation: () => {} });
}

/** Files that only the merge will show. */
class NewFiles {
  readonly added: Addition[] = [];
  readonly #options: AppendTable;

  constructor(options: AppendTable) {
    this.#options = options;
  }

  async add(path: string, body: Buffer, contentType: string): Promise<void> {
    const { ensure, repository } = this.#options;
    await ensure(one('fs:WriteObject', arn.object(repository, path)));
    this.added.push({ path, object: await this.store(path, body, contentType) });
  }

  async store(path: string, body: Buffer, contentType: string): Promise<Addition['object']> {
    const { engine, repository, destination } = this.#options;
    const entry = await engine.objects.uploadScratch({
      repository,
      branch: destination,
      path,
      body,
      contentType,
    });
    const { physicalAddress, etag, size } = entry;
    return { physicalAddress, checksum: etag, size, contentType };
  }
}
