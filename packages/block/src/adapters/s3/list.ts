import type { WalkedObject } from '../../adapter.ts';
import type { S3Client } from './client.ts';
import { childText, requireXml, type XmlElement } from '../../remote/xml.ts';
import { cutContents, type ListedContents } from './listed-contents.ts';

export interface BucketWalk {
  readonly bucket: string;
  readonly prefix: string;
  /** How much of each key relative keys leave out. */
  readonly baseLength: number;
  readonly after: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** Told of keys that are not UTF-8: no address can hold them. */
  readonly onSkipped: (key: string) => void;
}

/**
 * Lists a bucket page by page (1000 keys), in the store's order, which is that of the keys' bytes; from the beginning or
 * from a page on.
 */
export async function* walkBucket(
  client: S3Client,
  walk: BucketWalk,
  from?: string,
): AsyncGenerator<WalkedObject[]> {
  for await (const page of listPages(client, walk, from)) {
    const objects = page.objects();
    if (objects.length > 0) yield objects;
  }
}

export interface ListedPage {
  /** Read from the text of the page, each time anew. */
  readonly objects: () => WalkedObject[];
  /** Absent for the last page. */
  readonly next: string | undefined;
}

export async function* listPages(
  client: S3Client,
  walk: BucketWalk,
  from?: string,
): AsyncGenerator<ListedPage> {
  let token = from;
  do {
    const page = await listPage(client, walk, token);
    token = page.next;
    yield page;
  } while (token !== undefined);
}

export async function listPage(
  client: S3Client,
  walk: BucketWalk,
  token: string | undefined,
): Promise<ListedPage> {
  const text = await list(client, walk, token === undefined ? [] : [['continuation-token', token]]);
  const cut = cutContents(text);
  const result = listResult(cut?.rest ?? text);
  const isEncoded = childText(result, 'EncodingType') === 'url';
  const objects = (): WalkedObject[] =>
    walkedObjects(
      walk,
      cut?.contents() ?? contentsOf(cut === undefined ? result : listResult(text)),
      isEncoded,
    );
  return { objects, next: nextToken(result) };
}

function walkedObjects(
  { bucket, baseLength, onSkipped }: BucketWalk,
  contents: Iterable<ListedContents>,
  isEncoded: boolean,
): WalkedObject[] {
  const objects: WalkedObject[] = [];
  for (const listed of contents) {
    const key = isEncoded ? decodeKey(listed.key) : listed.key;
    if (key === undefined) {
      onSkipped(listed.key);
      continue;
    }
    objects.push({
      uri: `s3://${bucket}/${key}`,
      relativeKey: key.slice(baseLength),
      etag: listed.etag.replaceAll('"', ''),
      size: Number(listed.size),
      lastModified: new Date(listed.lastModified ?? 0),
    });
  }
  return objects;
}

function* contentsOf(result: XmlElement): Generator<ListedContents> {
  for (const child of result.children) {
    if (child.name !== 'Contents') continue;
    yield {
      key: childText(child, 'Key') ?? '',
      etag: childText(child, 'ETag') ?? '',
      size: childText(child, 'Size') ?? '',
      lastModified: childText(child, 'LastModified'),
    };
  }
}

export interface ListedFolders {
  /** Each with what the walk begins with, and a slash at its end. */
  readonly folders: string[];
  /** Whether there is something beside them: objects, or folders whose names are not UTF-8. */
  readonly hasOthers: boolean;
  readonly isWhole: boolean;
}

/** One page of the folders below the prefix of a walk. */
export async function listFolders(client: S3Client, walk: BucketWalk): Promise<ListedFolders> {
  const result = listResult(await list(client, walk, [['delimiter', '/']]));
  const isEncoded = childText(result, 'EncodingType') === 'url';
  const folders: string[] = [];
  let hasOthers = false;
  for (const child of result.children) {
    if (child.name === 'Contents') hasOthers = true;
    if (child.name !== 'CommonPrefixes') continue;
    const text = childText(child, 'Prefix') ?? '';
    const folder = isEncoded ? decodeKey(text) : text;
    if (folder === undefined) hasOthers = true;
    else folders.push(folder);
  }
  return { folders, hasOthers, isWhole: nextToken(result) === undefined };
}

async function list(
  client: S3Client,
  { bucket, prefix, after, signal }: BucketWalk,
  more: readonly (readonly [string, string])[],
): Promise<string> {
  const query: (readonly [string, string])[] = [
    ['list-type', '2'],
    ['max-keys', '1000'],
    ['prefix', prefix],
    ['encoding-type', 'url'],
    ...more,
  ];
  if (after !== undefined && !more.some(([name]) => name === 'continuation-token'))
    query.push(['start-after', after]);
  const response = await client.send({ method: 'GET', bucket, query, signal });
  return response.body.text();
}

function listResult(text: string): XmlElement {
  return requireXml(text, 'ListBucketResult');
}

function nextToken(result: XmlElement): string | undefined {
  return childText(result, 'IsTruncated') === 'true' ? childText(result, 'NextContinuationToken') : undefined;
}

/** Undefined when the encoded bytes are not UTF-8. */
function decodeKey(text: string): string | undefined {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', '%20'));
  } catch {
    return undefined;
  }
}
