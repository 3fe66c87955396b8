import { compareTimestamps, compareUtf8, type UploadData } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import type { ListUploadsOptions, Upload, UploadPage } from '../face/uploads.ts';
import { isJoining } from './joining.ts';
import { endingMark, listUploadRecords, toUpload } from './upload-records.ts';

const maxListed = 1000;

interface Item {
  /** Key of an upload, or the common prefix it folds into. */
  readonly key: string;
  readonly upload: Upload | undefined;
}

/** Open uploads of a repository by key, then creation; folded at the delimiter. */
export async function listUploads(context: EngineContext, options: ListUploadsOptions): Promise<UploadPage> {
  await context.repositories.open(options.repository);
  const items = foldItems(await openUploads(context, options), options);
  const amount = Math.min(options.amount ?? maxListed, maxListed);
  const page = items.slice(0, amount);
  const last = page.at(-1);
  const hasMore = items.length > page.length && page.length > 0;
  return {
    uploads: page.flatMap((item) => item.upload ?? []),
    commonPrefixes: page.filter((item) => item.upload === undefined).map((item) => item.key),
    hasMore,
    nextKeyMarker: hasMore && last !== undefined ? last.key : '',
    nextUploadIdMarker: hasMore ? (last?.upload?.uploadId ?? '') : '',
  };
}

async function openUploads(context: EngineContext, options: ListUploadsOptions): Promise<UploadData[]> {
  const found: UploadData[] = [];
  const keyOf = keysOf(options);
  for await (const data of listUploadRecords(context)) {
    const isAsked =
      options.bucket === undefined ? data.repository === options.repository : data.bucket === options.bucket;
    if (!isAsked || data.completedAt !== undefined) continue;
    // One that is being completed may have been answered already.
    if (data.completedEtag === endingMark || isJoining(context, data)) continue;
    if (keyOf(data).startsWith(options.prefix ?? '')) found.push(data);
  }
  const sorted = found.sort(
    (left, right) =>
      compareUtf8(keyOf(left), keyOf(right)) ||
      compareTimestamps(left.creationDate, right.creationDate) ||
      compareUtf8(left.uploadId, right.uploadId),
  );
  return sorted.slice(firstAfterMarker(sorted, options));
}

type KeyOf = (data: UploadData) => string;

function keysOf({ bucket }: ListUploadsOptions): KeyOf {
  return bucket === undefined ? ({ branch, path }) => `${branch}/${path}` : ({ bucketKey }) => bucketKey;
}

/** With an upload id marker the page goes on inside the marker's key, else after it. */
function firstAfterMarker(sorted: readonly UploadData[], options: ListUploadsOptions): number {
  const { keyMarker = '', uploadIdMarker = '' } = options;
  const keyOf = keysOf(options);
  if (keyMarker === '') return 0;
  const marked = sorted.findIndex((data) => keyOf(data) === keyMarker && data.uploadId === uploadIdMarker);
  if (marked >= 0) return marked + 1;
  const skipsBelow =
    options.delimiter !== undefined && options.delimiter !== '' && keyMarker.endsWith(options.delimiter);
  const next = sorted.findIndex(
    (data) => compareUtf8(keyOf(data), keyMarker) > 0 && !(skipsBelow && keyOf(data).startsWith(keyMarker)),
  );
  return next < 0 ? sorted.length : next;
}

function foldItems(sorted: readonly UploadData[], options: ListUploadsOptions): Item[] {
  const { prefix = '', delimiter = '' } = options;
  const keyOf = keysOf(options);
  const items: Item[] = [];
  for (const data of sorted) {
    const key = keyOf(data);
    const at = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
    if (at < 0) items.push({ key, upload: toUpload(data) });
    else {
      const folded = key.slice(0, at + delimiter.length);
      if (items.at(-1)?.key !== folded) items.push({ key: folded, upload: undefined });
    }
  }
  return items;
}
