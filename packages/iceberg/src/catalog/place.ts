import { EngineError } from '@svc/engine';
import type { Call } from '../call.ts';
import { badRequest, IcebergError } from '../errors/iceberg-error.ts';

/** A namespace as the engine knows it: a ref, and folders below it. */
export interface Place {
  readonly repository: string;
  readonly ref: string;
  readonly levels: readonly string[];
}

/** A place with what its ref stands for now. */
export interface OpenPlace extends Place {
  readonly instanceUid: string;
  /** To read from: a branch with its uncommitted changes, or a commit. */
  readonly shown: string;
  readonly commitId: string;
  readonly writable: boolean;
}

/** Between the levels of a namespace in a path or query. */
const separator = '\u001f';
/** The folder in which the catalog keeps its records, in every namespace. */
export const recordsFolder = '_iceberg';
const longestName = 255;

/** The levels of a namespace as a path or query holds them. */
export function levelsOf(text: string): string[] {
  return text.split(separator);
}

export function checkName(name: string, what: string): void {
  const isPath = name === '' || name === '.' || name === '..' || name.includes('/');
  if (isPath || /\p{Cc}/u.test(name) || !name.isWellFormed()) {
    throw badRequest(`${what} ${JSON.stringify(name)} must be a name without "/" and control characters`);
  }
  if (Buffer.byteLength(name) > longestName)
    throw badRequest(`${what}: a name has at most ${longestName} bytes`);
  if (name === recordsFolder) throw badRequest(`${what}: "${recordsFolder}" is kept for the catalog`);
}

/** The place of a namespace; undefined for those above refs: everything, or a repository. */
export function placeOf(call: Call, namespace: readonly string[]): Place | undefined {
  const [repository, ref, ...levels] = fullName(call, namespace);
  if (repository === undefined || ref === undefined) return undefined;
  for (const level of levels) checkName(level, 'namespace');
  return { repository, ref, levels };
}

/** The place of a namespace that holds tables. */
export function placeOfTables(call: Call, namespace: readonly string[]): Place {
  const place = placeOf(call, namespace);
  if (place !== undefined) return place;
  throw new IcebergError(
    'NoSuchNamespaceException',
    `${JSON.stringify(namespace.join('.'))} is above the refs and holds no tables: name a repository and a ref`,
  );
}

export function fullName(call: Call, namespace: readonly string[]): string[] {
  return [...call.warehouse, ...namespace];
}

/** A namespace as this caller names it. */
export function shownName(call: Call, place: Place, ...more: readonly string[]): string[] {
  return [place.repository, place.ref, ...place.levels, ...more].slice(call.warehouse.length);
}

export async function openPlace(call: Call, place: Place): Promise<OpenPlace> {
  const { engine } = call.services;
  const { repository, ref } = place;
  const { instanceUid, readOnly } = await engine.repositories.get(repository);
  const { kind, branch, staged, commitId } = await resolve(call, place);
  const writable = kind === 'branch' && branch === ref && staged && !readOnly;
  // A time is resolved once: all that is read for this request is of the same commit.
  return { ...place, instanceUid, shown: staged ? ref : commitId, commitId, writable };
}

async function resolve(call: Call, { repository, ref }: Place) {
  try {
    return await call.services.engine.refs.resolve({ repository, ref });
  } catch (error) {
    if (!(error instanceof EngineError) || error.kind !== 'invalid') throw error;
    throw new IcebergError('NoSuchNamespaceException', `${JSON.stringify(ref)}: ${error.message}`, {
      cause: error,
    });
  }
}

/** As `openPlace`, of a place that is to be changed. */
export async function openForWriting(call: Call, place: Place): Promise<OpenPlace> {
  const open = await openPlace(call, place);
  if (open.writable) return open;
  throw new IcebergError(
    'ForbiddenException',
    `${JSON.stringify(place.ref)} of ${place.repository} cannot be written: only branches of a writable repository can`,
  );
}

/** The folder of a namespace, empty or with a slash at its end. */
export function folderOf(levels: readonly string[]): string {
  return levels.map((level) => `${level}/`).join('');
}
