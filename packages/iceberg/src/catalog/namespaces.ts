import { and, arn, one, type Requirement } from '@svc/auth';
import type { Page } from '@svc/engine';
import type { Answer, Call } from '../call.ts';
import { badRequest, commitFailed, IcebergError } from '../errors/iceberg-error.ts';
import { stringMapIn, textsOf } from '../request/fields.ts';
import { locationOf } from './locations.ts';
import { nextPage, pageAsked, type PageAsked } from './paging.ts';
import {
  folderOf,
  fullName,
  levelsOf,
  openForWriting,
  openPlace,
  placeOf,
  recordsFolder,
  shownName,
  type OpenPlace,
  type Place,
} from './place.ts';
import { deleteRecord, ending, listRecords, readRecord, writeRecord, type Stored } from './records.ts';

/** Attempts of a change that others may disturb. */
const attempts = 10;

export function tablesFolder(levels: readonly string[]): string {
  return `${folderOf(levels)}${recordsFolder}/tables/`;
}

function namespacesFolder(levels: readonly string[]): string {
  return `${folderOf(levels)}${recordsFolder}/namespaces/`;
}

/** The record of a namespace lies in the one above it; a ref is there without. */
function recordPath(levels: readonly string[]): string {
  return `${namespacesFolder(levels.slice(0, -1))}${levels.at(-1) ?? ''}${ending}`;
}

/** Who may write what is in a namespace's folder may write its record, wherever that lies. */
export function onFolder(action: string, { repository, levels }: Place): Requirement {
  return one(action, arn.object(repository, folderOf(levels)));
}

export async function listNamespaces(call: Call): Promise<Answer> {
  const parent = call.query.get('parent') ?? '';
  const namespace = parent === '' ? [] : levelsOf(parent);
  const place = placeOf(call, namespace);
  const asked = pageAsked(call);
  if (place === undefined) {
    const { names, next } = await listAbove(call, fullName(call, namespace), asked);
    return answer(
      names.map((name) => [...namespace, name]),
      next,
    );
  }
  await call.ensure(one('fs:ListObjects', arn.repository(place.repository)));
  const open = await openPlace(call, place);
  await requireNamespace(call, open);
  const folder = namespacesFolder(place.levels);
  const { names, next } = await listRecords(call.services.engine, open, { folder, ...asked });
  return answer(
    names.map((name) => shownName(call, place, name)),
    next,
  );
}

function answer(namespaces: readonly string[][], next: string | undefined): Answer {
  return { status: 200, body: { namespaces, ...nextPage(next) } };
}

/** Repositories, or the branches and tags of one. */
async function listAbove(
  call: Call,
  [repository]: readonly string[],
  { after, limit }: PageAsked,
): Promise<{ readonly names: readonly string[]; readonly next: string | undefined }> {
  const { engine, auth } = call.services;
  if (repository === undefined) {
    await call.ensure(one('fs:ListRepositories', arn.all));
    const permissions = await auth.permissionsOf(call.identity, call.client);
    const visible = ({ id }: { readonly id: string }): boolean =>
      !permissions.isDenied('fs:ListRepositories', arn.repository(id));
    return collect(limit, after, (page) => engine.repositories.list({ ...page, visible }));
  }
  const resource = arn.repository(repository);
  await call.ensure(and(one('fs:ListBranches', resource), one('fs:ListTags', resource)));
  // Two lists in one order: each is read as far as the page may need.
  const branches = await collect(limit, after, (page) => engine.branches.list({ repository, ...page }));
  const tags = await collect(limit, after, (page) => engine.tags.list({ repository, ...page }));
  const names = [...new Set([...branches.names, ...tags.names])].sort();
  const shown = names.slice(0, limit);
  const hasMore = shown.length < names.length || branches.next !== undefined || tags.next !== undefined;
  return { names: shown, next: hasMore ? shown.at(-1) : undefined };
}

async function collect(
  limit: number,
  start: string,
  read: (page: { after: string; amount: number }) => Promise<Page<{ readonly id: string }>>,
): Promise<{ readonly names: readonly string[]; readonly next: string | undefined }> {
  const names: string[] = [];
  let after = start;
  for (;;) {
    const page = await read({ after, amount: Math.min(1000, limit - names.length) });
    names.push(...page.items.map(({ id }) => id));
    if (!page.hasMore) return { names, next: undefined };
    if (names.length >= limit) return { names, next: names.at(-1) };
    after = page.nextOffset;
  }
}

export async function createNamespace(call: Call): Promise<Answer> {
  const namespace = textsOf(call.body['namespace'], 'namespace');
  const place = requireFolder(call, namespace);
  const properties = stringMapIn(call.body, 'properties');
  await call.ensure(onFolder('fs:WriteObject', place));
  const open = await openForWriting(call, place);
  await requireNamespace(call, { ...open, levels: place.levels.slice(0, -1) });
  const record = { path: recordPath(place.levels), json: { properties }, replaces: 'new' } as const;
  if (!(await writeRecord(call.services.engine, open, record))) {
    throw new IcebergError('AlreadyExistsException', `namespace ${namespace.join('.')} is there already`);
  }
  return { status: 200, body: { namespace, properties } };
}

/** A namespace below a ref. Those above are made by other means. */
function requireFolder(call: Call, namespace: readonly string[]): Place {
  const place = placeOf(call, namespace);
  if (place !== undefined && place.levels.length > 0) return place;
  throw badRequest(
    `${JSON.stringify(namespace.join('.'))} is a repository or a ref of one: ` +
      'make and remove those with svcctl or the API',
  );
}

export async function loadNamespace(call: Call): Promise<Answer> {
  const namespace = levelsOf(call.params['namespace'] ?? '');
  const { properties } = await findNamespace(call, namespace);
  return { status: 200, body: { namespace, properties } };
}

export async function namespaceExists(call: Call): Promise<Answer> {
  await findNamespace(call, levelsOf(call.params['namespace'] ?? ''));
  return { status: 204 };
}

async function findNamespace(
  call: Call,
  namespace: readonly string[],
): Promise<{ readonly properties: Record<string, string> }> {
  const place = placeOf(call, namespace);
  if (place === undefined) {
    const [repository = ''] = fullName(call, namespace);
    await call.ensure(one('fs:ReadRepository', arn.repository(repository)));
    const { defaultBranch } = await call.services.engine.repositories.get(repository);
    return { properties: { 'default-branch': defaultBranch } };
  }
  await call.ensure(onFolder('fs:ReadObject', place));
  const open = await openPlace(call, place);
  const stored = await requireNamespace(call, open);
  // Trino puts tables there, and asks nobody.
  const location = locationOf(place.repository, place.levels.join('/'));
  const known =
    stored === undefined ? { 'commit-id': open.commitId } : stringMapIn(stored.json, 'properties');
  return { properties: { location, ...known } };
}

/** The record of a namespace; undefined for a ref. Throws when there is no such namespace. */
export async function requireNamespace(call: Call, place: OpenPlace): Promise<Stored | undefined> {
  if (place.levels.length === 0) return undefined;
  const stored = await readRecord(call.services.engine, place, recordPath(place.levels));
  if (stored !== undefined) return stored;
  const name = [place.repository, place.ref, ...place.levels].join('.');
  throw new IcebergError('NoSuchNamespaceException', `there is no namespace ${name}`);
}

export async function dropNamespace(call: Call): Promise<Answer> {
  const namespace = levelsOf(call.params['namespace'] ?? '');
  const place = requireFolder(call, namespace);
  await call.ensure(onFolder('fs:DeleteObject', place));
  const open = await openForWriting(call, place);
  const stored = await requireNamespace(call, open);
  const { engine } = call.services;
  for (const folder of [tablesFolder(place.levels), namespacesFolder(place.levels)]) {
    const { names } = await listRecords(engine, open, { folder, after: '', limit: 1 });
    if (names.length === 0) continue;
    throw new IcebergError(
      'NamespaceNotEmptyException',
      `namespace ${namespace.join('.')} holds ${names[0]}`,
    );
  }
  const record = { path: recordPath(place.levels), etag: stored?.etag ?? '' };
  if (!(await deleteRecord(engine, open, record))) throw commitFailed('the namespace was changed meanwhile');
  return { status: 204 };
}

export async function updateProperties(call: Call): Promise<Answer> {
  const place = requireFolder(call, levelsOf(call.params['namespace'] ?? ''));
  const updates = stringMapIn(call.body, 'updates');
  const removals = textsOf(call.body['removals'] ?? [], 'removals');
  const both = removals.find((name) => Object.hasOwn(updates, name));
  if (both !== undefined) throw badRequest(`${JSON.stringify(both)} is both set and removed`);
  await call.ensure(and(onFolder('fs:ReadObject', place), onFolder('fs:WriteObject', place)));
  for (let attempt = 0; attempt < attempts; attempt++) {
    const open = await openForWriting(call, place);
    const stored = await requireNamespace(call, open);
    const before = stringMapIn(stored?.json ?? {}, 'properties');
    const kept = Object.entries(before).filter(([name]) => !removals.includes(name));
    const json = { properties: { ...Object.fromEntries(kept), ...updates } };
    const record = { path: recordPath(place.levels), json, replaces: { etag: stored?.etag ?? '' } };
    if (!(await writeRecord(call.services.engine, open, record))) continue;
    return {
      status: 200,
      body: {
        updated: Object.keys(updates),
        removed: removals.filter((name) => Object.hasOwn(before, name)),
        missing: removals.filter((name) => !Object.hasOwn(before, name)),
      },
    };
  }
  throw commitFailed('the namespace is being changed by others; try again');
}
