import { EngineError, type Engine } from '@svc/engine';
import { isObject, parseJson, writeJson, type JsonObject } from '../json.ts';
import { IcebergError } from '../errors/iceberg-error.ts';
import type { OpenPlace } from './place.ts';

/** A JSON object of the tree, with what tells one version of it from another. */
export interface Stored {
  readonly json: JsonObject;
  readonly etag: string;
}

const contentType = 'application/json';
/** More than the metadata of any table that is looked after. */
const maxBytes = 64 * 1024 * 1024;

/** Where objects are read: a repository, and a ref of it. */
export type Shown = Pick<OpenPlace, 'repository' | 'shown'>;

/** Undefined when there is no such object. */
export async function readRecord(engine: Engine, shown: Shown, path: string): Promise<Stored | undefined> {
  const stored = await readBytes(engine, shown, path);
  return stored && { json: parsed(stored.bytes.toString('utf8'), path), etag: stored.etag };
}

/** A whole object; undefined when there is none. */
export async function readBytes(
  engine: Engine,
  { repository, shown }: Shown,
  path: string,
): Promise<{ readonly bytes: Buffer; readonly etag: string } | undefined> {
  let opened;
  try {
    opened = await engine.objects.open({ repository, ref: shown, path });
  } catch (error) {
    if (error instanceof EngineError && error.kind === 'not_found' && error.subject === 'object')
      return undefined;
    throw error;
  }
  const { entry, body } = opened;
  if (body.size > maxBytes) {
    body.dispose();
    throw new IcebergError('InternalServerError', `${path} is larger than ${maxBytes} bytes`);
  }
  const chunks: Buffer[] = [];
  if (body.bytes === undefined) for await (const chunk of body.stream()) chunks.push(chunk as Buffer);
  else chunks.push(Buffer.from(body.bytes));
  body.dispose();
  return { bytes: Buffer.concat(chunks), etag: entry.etag };
}

function parsed(text: string, path: string): JsonObject {
  try {
    const json = parseJson(text);
    if (isObject(json)) return json;
  } catch {
    // Told below.
  }
  throw new IcebergError('BadRequestException', `${path} does not hold a JSON object`);
}

export interface WriteRecord {
  readonly path: string;
  readonly json: object;
  /** What it must replace; `new` when nothing may be there. */
  readonly replaces: { readonly etag: string } | 'new';
}

/** False when somebody else was first: then nothing is written. */
export async function writeRecord(
  engine: Engine,
  { repository, ref }: OpenPlace,
  { path, json, replaces }: WriteRecord,
): Promise<boolean> {
  const condition = replaces === 'new' ? { ifNoneMatch: '*' as const } : { ifMatch: replaces.etag };
  const body = Buffer.from(writeJson(json));
  try {
    await engine.objects.upload({ repository, branch: ref, path, body, contentType, ...condition });
    return true;
  } catch (error) {
    if (isLostRace(error)) return false;
    throw error;
  }
}

/** False when it was changed since. */
export async function deleteRecord(
  engine: Engine,
  { repository, ref }: OpenPlace,
  { path, etag }: { readonly path: string; readonly etag: string },
): Promise<boolean> {
  try {
    await engine.objects.delete({ repository, branch: ref, path, ifMatch: etag });
    return true;
  } catch (error) {
    if (isLostRace(error)) return false;
    throw error;
  }
}

function isLostRace(error: unknown): boolean {
  if (!(error instanceof EngineError)) return false;
  const { kind, subject } = error;
  return (
    kind === 'precondition_failed' || (subject === 'object' && (kind === 'conflict' || kind === 'not_found'))
  );
}

/** The names of records in a folder, in order: files `<name>.json`. */
export async function listRecords(
  engine: Engine,
  { repository, shown }: OpenPlace,
  { folder, after, limit }: { readonly folder: string; readonly after: string; readonly limit: number },
): Promise<{ readonly names: readonly string[]; readonly next: string | undefined }> {
  const names: string[] = [];
  let from = after === '' ? '' : `${folder}${after}${ending}`;
  for (;;) {
    const amount = Math.min(1000, limit - names.length);
    const page = await engine.objects.list({
      repository,
      ref: shown,
      prefix: folder,
      delimiter: '/',
      after: from,
      amount,
    });
    page.visit(({ kind, path }) => {
      if (kind === 'object' && path.endsWith(ending)) names.push(path.slice(folder.length, -ending.length));
    });
    const { hasMore, nextOffset } = page;
    page.release();
    if (!hasMore) return { names, next: undefined };
    from = nextOffset;
    if (names.length >= limit) return { names, next: names.at(-1) };
  }
}

export const ending = '.json';
