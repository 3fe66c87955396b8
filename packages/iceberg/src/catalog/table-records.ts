import { randomUUID } from 'node:crypto';
import { arn, one, type Requirement } from '@svc/auth';
import type { Call, Reader } from '../call.ts';
import { IcebergError } from '../errors/iceberg-error.ts';
import { toIcebergError } from '../errors/to-iceberg-error.ts';
import { readMetadata, type TableMetadata } from '../metadata/table-metadata.ts';
import { textIn } from '../request/fields.ts';
import { locationOf, pathOf } from './locations.ts';
import { tablesFolder } from './namespaces.ts';
import { checkName, type OpenPlace, type Place } from './place.ts';
import { deleteRecord, ending, readRecord, writeRecord, type Shown } from './records.ts';

/** The object that says which metadata file is a table's newest. Its content changes with every commit. */
export function pointerPath({ levels }: Place, name: string): string {
  checkName(name, 'table');
  return `${tablesFolder(levels)}${name}${ending}`;
}

export function onTable(action: string, place: Place, name: string): Requirement {
  return one(action, arn.object(place.repository, pointerPath(place, name)));
}

export interface Table {
  /** Tells this version of the pointer from others. */
  readonly etag: string;
  readonly metadataLocation: string;
  readonly metadata: TableMetadata;
}

export function findTable(call: Reader, place: OpenPlace, name: string): Promise<Table | undefined> {
  return tableAt(call, place, pointerPath(place, name));
}

/** The table that a pointer shows. */
export async function tableAt(call: Reader, shown: Shown, pointerAt: string): Promise<Table | undefined> {
  const pointer = await readRecord(call.services.engine, shown, pointerAt);
  if (pointer === undefined) return undefined;
  const metadataLocation = textIn(pointer.json, 'metadata-location');
  return { etag: pointer.etag, metadataLocation, metadata: await readTable(call, shown, metadataLocation) };
}

export async function requireTable(call: Call, place: OpenPlace, name: string): Promise<Table> {
  const table = await findTable(call, place, name);
  if (table === undefined) throw noSuchTable(place, name);
  return table;
}

export function noSuchTable({ repository, ref, levels }: Place, name: string): IcebergError {
  return new IcebergError(
    'NoSuchTableException',
    `there is no table ${[repository, ref, ...levels, name].join('.')}`,
  );
}

/** Asks for the right to read the file: whoever writes a pointer may let it show anything. */
export async function readTable(call: Reader, shown: Shown, location: string): Promise<TableMetadata> {
  const path = pathOf(shown.repository, location);
  await call.ensure(one('fs:ReadObject', arn.object(shown.repository, path)));
  const stored = await readRecord(call.services.engine, shown, path);
  if (stored === undefined) throw new IcebergError('NotFoundException', `${location} is not there`);
  return readMetadata(stored.json);
}

/** Metadata files remembered in the newest one, unless the table says otherwise. */
const keptVersions = 100;

/** Writes the next metadata file and lets the pointer show it. Undefined when somebody else was first. */
export async function writeTable(
  call: Call,
  place: OpenPlace,
  {
    name,
    metadata,
    before,
  }: { readonly name: string; readonly metadata: TableMetadata; readonly before: Table | undefined },
): Promise<Table | undefined> {
  const { engine } = call.services;
  const { repository } = place;
  const { path, json, pointer: shows } = nextMetadata(repository, metadata, before);
  await call.ensure(one('fs:WriteObject', arn.object(repository, path)));
  await writeRecord(engine, place, { path, json, replaces: 'new' });
  const pointer = {
    path: pointerPath(place, name),
    json: shows,
    replaces: before ?? ('new' as const),
  };
  const written = await writePointer(() => writeRecord(engine, place, pointer));
  if (written) return { etag: '', metadataLocation: shows['metadata-location'], metadata: json };
  // Nobody was told of the file.
  await deleteRecord(engine, place, { path, etag: '*' });
  return undefined;
}

/** The metadata file that follows, where it goes, and the pointer that shows it. */
export function nextMetadata(
  repository: string,
  metadata: TableMetadata,
  before: Table | undefined,
): {
  readonly path: string;
  readonly json: TableMetadata;
  readonly pointer: { readonly 'metadata-location': string };
} {
  const folder = pathOf(repository, metadata.location);
  const version = String(before === undefined ? 0 : versionOf(before.metadataLocation) + 1).padStart(5, '0');
  const path = `${folder}/metadata/${version}-${randomUUID()}.metadata.json`;
  return {
    path,
    json: before === undefined ? metadata : { ...metadata, 'metadata-log': metadataLog(metadata, before) },
    pointer: { 'metadata-location': locationOf(repository, path) },
  };
}

/** When the store fails here, the pointer may show the new metadata all the same. */
async function writePointer(write: () => Promise<boolean>): Promise<boolean> {
  try {
    return await write();
  } catch (error) {
    const refusal = toIcebergError(error);
    if (refusal.status < 500) throw refusal;
    throw new IcebergError('CommitStateUnknownException', 'the store failed; the commit may have happened', {
      cause: error,
    });
  }
}

function metadataLog(metadata: TableMetadata, before: Table): TableMetadata['metadata-log'] {
  const entry = {
    'metadata-file': before.metadataLocation,
    'timestamp-ms': before.metadata['last-updated-ms'],
  };
  const wanted = Number(metadata.properties['write.metadata.previous-versions-max'] ?? keptVersions);
  const kept = Number.isSafeInteger(wanted) && wanted > 0 ? wanted : keptVersions;
  return [...metadata['metadata-log'], entry].slice(-kept);
}

/** As the file's name says, or -1. */
function versionOf(location: string): number {
  const [, digits] = /\/(\d{1,10})-[^/]*$/.exec(location) ?? [];
  return digits === undefined ? -1 : Number(digits);
}
