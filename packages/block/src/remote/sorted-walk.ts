import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { WalkedObject } from '../adapter.ts';

const pageSize = 1000;

/**
 * Pages of a listing in the byte order of the objects' keys, for services that list in an order of their own. The
 * whole listing is read first: up to `runSize` objects in memory, more in sorted files of that many.
 */
export async function* sortedWalk(
  listing: AsyncIterable<readonly WalkedObject[]>,
  runSize = 50_000,
): AsyncGenerator<WalkedObject[]> {
  let folder: string | undefined;
  const files: string[] = [];
  try {
    let run: WalkedObject[] = [];
    for await (const page of listing) {
      run.push(...page);
      if (run.length < runSize) continue;
      folder ??= await mkdtemp(join(tmpdir(), 'svc-walk-'));
      const file = join(folder, String(files.length));
      await pipeline(Readable.from(linesOf(run.sort(byKey))), createWriteStream(file));
      files.push(file);
      run = [];
    }
    const runs = [...files.map(readRun), pagesOf(run.sort(byKey))];
    yield* mergeAll(runs);
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

/** All are below one prefix, so that the order of their URIs is that of their keys. */
function byKey(a: WalkedObject, b: WalkedObject): number {
  return compareAsBytes(a.uri, b.uri);
}

/** The order of the UTF-8 of two texts: that of JavaScript, but for characters beyond U+FFFF. */
export function compareAsBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x === y) continue;
    const [isPairX, isPairY] = [isSurrogate(x), isSurrogate(y)];
    if (isPairX !== isPairY) return isPairX ? 1 : -1;
    return x - y;
  }
  return a.length - b.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

function* linesOf(run: readonly WalkedObject[]): Generator<string> {
  for (const object of run) yield `${JSON.stringify(object)}\n`;
}

async function* readRun(file: string): AsyncGenerator<WalkedObject[]> {
  let page: WalkedObject[] = [];
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    const object = JSON.parse(line) as WalkedObject & { lastModified: string };
    page.push({ ...object, lastModified: new Date(object.lastModified) });
    if (page.length < pageSize) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

async function* pagesOf(run: readonly WalkedObject[]): AsyncGenerator<WalkedObject[]> {
  for (let start = 0; start < run.length; start += pageSize) yield run.slice(start, start + pageSize);
}

function mergeAll(runs: readonly AsyncGenerator<WalkedObject[]>[]): AsyncGenerator<WalkedObject[]> {
  const [first, second] = runs;
  if (first === undefined) return pagesOf([]);
  if (second === undefined) return first;
  const half = Math.ceil(runs.length / 2);
  return mergeTwo(mergeAll(runs.slice(0, half)), mergeAll(runs.slice(half)));
}

async function* mergeTwo(
  left: AsyncGenerator<WalkedObject[]>,
  right: AsyncGenerator<WalkedObject[]>,
): AsyncGenerator<WalkedObject[]> {
  const next = async (run: AsyncGenerator<WalkedObject[]>): Promise<WalkedObject[]> => {
    const page = await run.next();
    return page.done === true ? [] : page.value;
  };
  let [a, b] = [await next(left), await next(right)];
  let [i, j] = [0, 0];
  let merged: WalkedObject[] = [];
  for (;;) {
    if (i === a.length) [a, i] = [await next(left), 0];
    if (j === b.length) [b, j] = [await next(right), 0];
    const [x, y] = [a[i], b[j]];
    if (x === undefined && y === undefined) break;
    if (y === undefined || (x !== undefined && byKey(x, y) <= 0)) {
      if (x !== undefined) merged.push(x);
      i += 1;
    } else {
      merged.push(y);
      j += 1;
    }
    if (merged.length < pageSize) continue;
    yield merged;
    merged = [];
  }
  if (merged.length > 0) yield merged;
}
