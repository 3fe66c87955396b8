import type { WalkedObject } from '../../adapter.ts';
import { BlockError } from '../../errors.ts';
import { compareAsBytes } from '../../remote/sorted-walk.ts';
import type { S3Client } from './client.ts';
import { listFolders, listPage, listPages, walkBucket, type BucketWalk, type ListedPage } from './list.ts';

const segmentsAtOnce = 8;
/** Of each segment: together some tens of thousands of objects wait in memory. */
const pagesAhead = 4;
/** Shorter segments would ask for as much beyond their ends as inside them. */
const pagesPerSegment = 4;
/** Fewer in the first page say that most folders are small: one listing after the other is best then. */
const objectsPerFolder = 4;
const deepest = 16;
/** After so many folders that fill calls of their own it is looked again how large they are. */
const foldersAtOnce = 64;

/**
 * As `walkBucket`, in the same order, for whoever wants all of it soon: folders tell where the bucket can be cut, and
 * several segments are listed at once. A listing is a row of calls of which each must wait for the one before.
 */
export async function* walkInParallel(client: S3Client, walk: BucketWalk): AsyncGenerator<WalkedObject[]> {
  const stop = new AbortController();
  const signal = walk.signal === undefined ? stop.signal : AbortSignal.any([walk.signal, stop.signal]);
  try {
    let { after } = walk;
    for (;;) {
      const here: BucketWalk = { ...walk, after, signal };
      const first = await listPage(client, here, undefined);
      const objects = first.objects();
      if (objects.length > 0) yield objects;
      if (first.next === undefined) return;
      const cuts = await findCuts(client, here, objects);
      if (cuts === undefined) {
        yield* walkBucket(client, here, first.next);
        return;
      }
      after = lastKey(here, objects);
      const segments = cuts.segments.map(
        (part) => () => segment(client, { ...here, prefix: part.prefix, after: part.after }, part.end),
      );
      for await (const read of inOrder(segments)) {
        const page = read();
        if (page.length === 0) continue;
        after = lastKey(here, page);
        yield page;
      }
      if (cuts.isWhole) return;
      after = cuts.segments.at(-1)?.end ?? after;
    }
  } finally {
    stop.abort();
  }
}

/** The objects of a page, read from its text only when it is their turn. */
type PageToRead = ListedPage['objects'];

/** What of a bucket is listed call after call. */
interface Segment {
  readonly prefix: string;
  readonly after: string | undefined;
  /** The last key that it may hold. */
  readonly end: string | undefined;
}

interface Cuts {
  readonly segments: readonly Segment[];
  /** Whether they are all that is left. */
  readonly isWhole: boolean;
}

/** Where to cut what follows the first page; undefined where cutting does not pay. */
async function findCuts(
  client: S3Client,
  walk: BucketWalk,
  first: readonly WalkedObject[],
): Promise<Cuts | undefined> {
  const last = lastKey(walk, first);
  if (last === undefined) return undefined;
  let level = walk.prefix;
  for (let depth = 0; depth < deepest; depth += 1) {
    const { folders, hasOthers, isWhole } = await listFolders(client, {
      ...walk,
      prefix: level,
      after: last,
    });
    const [only] = folders;
    if (folders.length === 1 && only !== undefined && isWhole && !hasOthers && only !== level) {
      level = only;
      continue;
    }
    const inPage = new Set(first.map((object) => folderOf(keyOf(walk, object), level)));
    if (inPage.size * objectsPerFolder > first.length) return undefined;
    const ahead = [...new Set(folders)]
      .filter((folder) => compareAsBytes(folder, last) > 0)
      .toSorted(compareAsBytes);
    // A page of one folder: each most likely fills calls of its own, and then none asks beyond the end of a segment.
    if (inPage.size === 1 && !hasOthers && last.startsWith(level) && ahead.length > 0) {
      const next = ahead
        .slice(0, foldersAtOnce)
        .map((prefix) => ({ prefix, after: undefined, end: undefined }));
      const current = { prefix: folderOf(last, level), after: last, end: undefined };
      return {
        segments: current.prefix === '' ? next : [current, ...next],
        isWhole: isWhole && ahead.length <= foldersAtOnce,
      };
    }
    const step = pagesPerSegment * inPage.size;
    const ends: (string | undefined)[] = ahead.filter((_, index) => index % step === step - 1);
    const end = ahead.at(-1);
    if (!isWhole && end !== undefined && ends.at(-1) !== end) ends.push(end);
    if (ends.length === 0) return undefined;
    // The last one of all has no end.
    if (isWhole) ends.push(undefined);
    return {
      segments: ends.map((each, index) => ({
        prefix: walk.prefix,
        after: index === 0 ? last : ends[index - 1],
        end: each,
      })),
      isWhole,
    };
  }
  return undefined;
}

/** The objects after `walk.after`, up to the key `end`. */
async function* segment(
  client: S3Client,
  walk: BucketWalk,
  end: string | undefined,
): AsyncGenerator<PageToRead> {
  for await (const page of listPages(client, walk)) {
    if (end === undefined) {
      yield page.objects;
      continue;
    }
    const objects = page.objects();
    const isInside = (object: WalkedObject): boolean => compareAsBytes(keyOf(walk, object), end) <= 0;
    const beyond = objects.findIndex((object) => !isInside(object));
    if (beyond < 0) {
      yield () => objects;
      continue;
    }
    if (objects.slice(beyond).some(isInside))
      throw new BlockError('unavailable', `s3://${walk.bucket} is not listed in the order of its keys`);
    yield () => objects.slice(0, beyond);
    return;
  }
}

/** The pages of all segments, one after the other, while the next ones are read ahead. */
async function* inOrder(segments: readonly (() => AsyncGenerator<PageToRead>)[]): AsyncGenerator<PageToRead> {
  const waiting = segments.values();
  const underWay: AsyncGenerator<PageToRead>[] = [];
  const begin = (): void => {
    const next = waiting.next();
    if (next.done !== true) underWay.push(readAhead(next.value()));
  };
  for (let index = 0; index < segmentsAtOnce; index += 1) begin();
  for (let front; (front = underWay.shift()) !== undefined; begin()) yield* front;
}

/** Begins to read at once. */
function readAhead(pages: AsyncGenerator<PageToRead>): AsyncGenerator<PageToRead> {
  const ask = (): Promise<IteratorResult<PageToRead>> => {
    const asked = pages.next();
    // A failure is told to whoever comes to this page, if anybody does.
    asked.catch(() => undefined);
    return asked;
  };
  const asked = Array.from({ length: pagesAhead }, ask);
  return (async function* () {
    for (let next; (next = asked.shift()) !== undefined;) {
      const page = await next;
      if (page.done === true) return;
      asked.push(ask());
      yield page.value;
    }
  })();
}

function keyOf({ bucket }: BucketWalk, { uri }: WalkedObject): string {
  return uri.slice(`s3://${bucket}/`.length);
}

function lastKey(walk: BucketWalk, objects: readonly WalkedObject[]): string | undefined {
  const last = objects.at(-1);
  return last === undefined ? undefined : keyOf(walk, last);
}

/** The folder below a level that a key lies in; empty for one that lies in none. */
function folderOf(key: string, level: string): string {
  return key.slice(0, key.indexOf('/', level.length) + 1);
}
