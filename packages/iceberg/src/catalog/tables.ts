import { and, arn, every, one } from '@svc/auth';
import type { Answer, Call } from '../call.ts';
import { badRequest, commitFailed, IcebergError } from '../errors/iceberg-error.ts';
import { newTable } from '../metadata/new-table.ts';
import type { TableMetadata } from '../metadata/table-metadata.ts';
import { objectIn, textIn, textsOf } from '../request/fields.ts';
import { freeLocation, pathOf } from './locations.ts';
import { requireNamespace, tablesFolder } from './namespaces.ts';
import { nextPage, pageAsked } from './paging.ts';
import {
  levelsOf,
  openForWriting,
  openPlace,
  placeOfTables,
  shownName,
  type OpenPlace,
  type Place,
} from './place.ts';
import { deleteRecord, listRecords, readRecord, writeRecord } from './records.ts';
import {
  noSuchTable,
  onTable,
  pointerPath,
  readTable,
  requireTable,
  writeTable,
  type Table,
} from './table-records.ts';
import { storageConfig, storageCredentials } from './vended-keys.ts';

function placeIn(call: Call): Place {
  return placeOfTables(call, levelsOf(call.params['namespace'] ?? ''));
}

function nameIn(call: Call): string {
  return call.params['table'] ?? '';
}

export async function listTables(call: Call): Promise<Answer> {
  const place = placeIn(call);
  await call.ensure(one('fs:ListObjects', arn.repository(place.repository)));
  const open = await openPlace(call, place);
  await requireNamespace(call, open);
  const asked = { folder: tablesFolder(place.levels), ...pageAsked(call) };
  const { names, next } = await listRecords(call.services.engine, open, asked);
  const namespace = shownName(call, place);
  return {
    status: 200,
    body: { identifiers: names.map((name) => ({ namespace, name })), ...nextPage(next) },
  };
}

/** The answer that lets a client read, and on a branch write, the table's files. */
function loaded(call: Call, place: OpenPlace, location: string | undefined, metadata: TableMetadata): Answer {
  const config = storageConfig(call, place);
  return {
    status: 200,
    body: {
      ...(location === undefined ? {} : { 'metadata-location': location }),
      metadata,
      config,
      'storage-credentials': storageCredentials(place, config),
    },
  };
}

export async function loadTable(call: Call): Promise<Answer> {
  const place = placeIn(call);
  await call.ensure(onTable('fs:ReadObject', place, nameIn(call)));
  const open = await openPlace(call, place);
  const { metadataLocation, metadata } = await requireTable(call, open, nameIn(call));
  return loaded(call, open, metadataLocation, metadata);
}

export async function loadCredentials(call: Call): Promise<Answer> {
  const place = placeIn(call);
  await call.ensure(onTable('fs:ReadObject', place, nameIn(call)));
  const open = await openPlace(call, place);
  await requireTable(call, open, nameIn(call));
  return {
    status: 200,
    body: { 'storage-credentials': storageCredentials(open, storageConfig(call, open)) },
  };
}

export async function tableExists(call: Call): Promise<Answer> {
  const place = placeIn(call);
  await call.ensure(onTable('fs:ReadObject', place, nameIn(call)));
  const open = await openPlace(call, place);
  const pointer = await readRecord(call.services.engine, open, pointerPath(place, nameIn(call)));
  if (pointer === undefined) throw noSuchTable(place, nameIn(call));
  return { status: 204 };
}

export async function createTable(call: Call): Promise<Answer> {
  const place = placeIn(call);
  const { body } = call;
  const name = textIn(body, 'name');
  await call.ensure(and(onTable('fs:ReadObject', place, name), onTable('fs:WriteObject', place, name)));
  const open = await openForWriting(call, place);
  await requireNamespace(call, open);
  const asked = body['location'];
  const location =
    asked === undefined || asked === null ? await freeLocation(call, open, name) : textIn(body, 'location');
  pathOf(place.repository, location);
  const metadata = newTable(body, location.replace(/\/+$/, ''), call.services.now());
  if (body['stage-create'] === true) {
    if ((await readRecord(call.services.engine, open, pointerPath(place, name))) !== undefined) {
      throw alreadyExists(place, name);
    }
    return loaded(call, open, undefined, metadata);
  }
  const table = await writeTable(call, open, { name, metadata, before: undefined });
  if (table === undefined) throw alreadyExists(place, name);
  return loaded(call, open, table.metadataLocation, table.metadata);
}

function alreadyExists({ repository, ref, levels }: Place, name: string): IcebergError {
  const full = [repository, ref, ...levels, name].join('.');
  return new IcebergError('AlreadyExistsException', `table ${full} is there already`);
}

/** A table whose metadata lies in the tree already. */
export async function registerTable(call: Call): Promise<Answer> {
  const place = placeIn(call);
  const name = textIn(call.body, 'name');
  const location = textIn(call.body, 'metadata-location');
  await call.ensure(and(onTable('fs:ReadObject', place, name), onTable('fs:WriteObject', place, name)));
  const open = await openForWriting(call, place);
  await requireNamespace(call, open);
  const metadata = await readTable(call, open, location);
  pathOf(place.repository, metadata.location);
  const { engine } = call.services;
  const pointer = { path: pointerPath(place, name), json: { 'metadata-location': location } };
  const isNew = await writeRecord(engine, open, { ...pointer, replaces: 'new' });
  if (!isNew) {
    const known = await readRecord(engine, open, pointer.path);
    const mayReplace = call.body['overwrite'] === true && known !== undefined;
    if (!mayReplace) throw alreadyExists(place, name);
    if (!(await writeRecord(engine, open, { ...pointer, replaces: known }))) throw changed(place, name);
  }
  return loaded(call, open, location, metadata);
}

function changed({ repository, ref, levels }: Place, name: string): IcebergError {
  return commitFailed(
    `table ${[repository, ref, ...levels, name].join('.')} was changed meanwhile; try again`,
  );
}

export async function dropTable(call: Call): Promise<Answer> {
  const place = placeIn(call);
  const name = nameIn(call);
  await call.ensure(onTable('fs:DeleteObject', place, name));
  const open = await openForWriting(call, place);
  const { engine } = call.services;
  const path = pointerPath(place, name);
  const purges = call.query.get('purgeRequested')?.toLowerCase() === 'true';
  const pointer = await readRecord(engine, open, path);
  if (pointer === undefined) throw noSuchTable(place, name);
  const table = purges ? await requireTable(call, open, name) : undefined;
  const folders = table === undefined ? [] : await purgedFolders(call, place, table);
  if (!(await deleteRecord(engine, open, { path, etag: pointer.etag }))) throw changed(place, name);
  for (const folder of folders) await deleteFolder(call, open, folder);
  return { status: 204 };
}

/** Only the folders that tables keep their files in: more may lie at the location. */
async function purgedFolders(call: Call, { repository }: Place, { metadata }: Table): Promise<string[]> {
  const root = pathOf(repository, metadata.location);
  const folders = [`${root}/data/`, `${root}/metadata/`];
  await call.ensure(
    and(...folders.map((folder) => every('fs:DeleteObject', arn.object(repository, folder)))),
  );
  return folders;
}

/** Deletes on this branch alone: whatever another ref shows stays. */
async function deleteFolder(call: Call, { repository, ref }: OpenPlace, folder: string): Promise<void> {
  const { objects } = call.services.engine;
  for (;;) {
    const page = await objects.list({ repository, ref, prefix: folder, amount: 1000 });
    const paths: string[] = [];
    page.visit(({ path }) => paths.push(path));
    page.release();
    if (paths.length === 0) return;
    const [failure] = await objects.deleteMany({ repository, branch: ref, paths });
    if (failure !== undefined) throw failure.error;
  }
}

export async function renameTable(call: Call): Promise<Answer> {
  const [source, destination] = (['source', 'destination'] as const).map((side) => {
    const named = objectIn(call.body, side);
    const place = placeOfTables(call, textsOf(named['namespace'], `namespace of the ${side}`));
    return { place, name: textIn(named, 'name') };
  }) as [Named, Named];
  if (
    source.place.repository !== destination.place.repository ||
    source.place.ref !== destination.place.ref
  ) {
    throw badRequest('a table can be renamed within its ref only; to bring it to another one, merge');
  }
  await call.ensure(
    and(
      onTable('fs:ReadObject', source.place, source.name),
      onTable('fs:DeleteObject', source.place, source.name),
      onTable('fs:WriteObject', destination.place, destination.name),
    ),
  );
  const { engine } = call.services;
  const from = await openForWriting(call, source.place);
  const to = { ...from, levels: destination.place.levels };
  const path = pointerPath(from, source.name);
  const pointer = await readRecord(engine, from, path);
  if (pointer === undefined) throw noSuchTable(from, source.name);
  await requireNamespace(call, to);
  const target = { path: pointerPath(to, destination.name), json: pointer.json, replaces: 'new' as const };
  if (!(await writeRecord(engine, to, target))) throw alreadyExists(to, destination.name);
  if (await deleteRecord(engine, from, { path, etag: pointer.etag })) return { status: 204 };
  // A commit came in between: the table stays where it was.
  await deleteRecord(engine, to, { path: target.path, etag: pointer.etag });
  throw changed(from, source.name);
}

interface Named {
  readonly place: Place;
  readonly name: string;
}
