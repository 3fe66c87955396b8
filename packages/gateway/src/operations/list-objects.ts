import type { ObjectPage } from '@svc/engine';
import { EngineError, isTimeRef } from '@svc/engine';
import type { Call } from '../call.ts';
import { S3Error } from '../errors/s3-error.ts';
import { document, element, escapeXml } from '../xml/write.ts';
import { quotedEtag, xmlTime } from './entry-headers.ts';
import { integerParameter, maxInt32, urlEncoding } from './integer-parameter.ts';
import { decodeToken, encodeListed, encodeToken } from './listing-text.ts';
import type { BoundKey } from '../routing/bucket.ts';
import { person } from './person.ts';

const defaultPage = 1000;
const maxObjectPage = 10_000;
const maxBranchPage = 1000;
const maxPrefix = 1024;

interface Listing {
  readonly version: 1 | 2;
  /** As sent. */
  readonly prefix: string;
  readonly delimiter: string | undefined;
  readonly maxKeys: number;
  /** Exclusive key the page starts after. */
  readonly after: string | undefined;
  readonly encode: (text: string) => string;
  readonly fetchOwner: boolean;
}

/** Markup of the page's items; `last` is the key or prefix a next page continues after. */
interface Page {
  readonly contents: string;
  readonly prefixes: string;
  readonly count: number;
  readonly maxKeys: number;
  readonly last: string | undefined;
  /** The commit listed, where the client named a time or a bound bucket. */
  readonly commitId?: string | undefined;
}

/** `prefix` up to the first `/` is the ref; without one, branches are listed. */
export async function listObjects(call: Call): Promise<void> {
  const listing = readListing(call);
  const page = await readPage(call, listing);
  const headers = page.commitId === undefined ? {} : { 'X-Svc-Commit': page.commitId };
  call.reply.xml(200, render(call, listing, page), headers);
}

function readListing(call: Call): Listing {
  const { query } = call.request;
  const type = query.text('list-type') ?? '1';
  if (type !== '1' && type !== '2') throw new S3Error('BadRequest', 'list-type must be 1 or 2.');
  const version = type === '1' ? 1 : 2;
  const prefix = query.get('prefix') ?? '';
  if (Buffer.byteLength(prefix) > maxPrefix) throw new S3Error('BadRequest', 'The prefix is too long.');
  const token = query.text('continuation-token');
  let after = query.text('marker');
  if (version === 2) after = token === undefined ? query.text('start-after') : decodeToken(token);
  return {
    version,
    prefix,
    delimiter: query.text('delimiter'),
    maxKeys: integerParameter(query, { name: 'max-keys', absent: defaultPage, min: 0, max: maxInt32 }),
    after,
    encode: encodeListed(urlEncoding(query)),
    fetchOwner: version === 2 && query.get('fetch-owner') === 'true',
  };
}

function readPage(call: Call, listing: Listing): Promise<Page> | Page {
  if (call.bound !== undefined) return boundPage(call, listing, call.bound);
  const prefix = listing.prefix.startsWith('/') ? listing.prefix.slice(1) : listing.prefix;
  const slash = prefix.indexOf('/');
  const empty: Page = { contents: '', prefixes: '', count: 0, maxKeys: listing.maxKeys, last: undefined };
  if (listing.prefix === '/' || slash === 0 || listing.maxKeys === 0) return empty;
  if (slash < 0) return branchPage(call, listing, prefix);
  return refPage(call, listing, prefix.slice(0, slash), prefix.slice(slash + 1));
}

/** Keys have no ref, and never leave the prefix that the bucket is bound to. */
async function boundPage(call: Call, listing: Listing, bound: BoundKey): Promise<Page> {
  const { maxKeys, after } = listing;
  const place = {
    ref: call.ref === '' ? bound.ref : call.ref,
    prefix: `${bound.prefix}${listing.prefix}`,
    start: { after: after === undefined ? undefined : `${bound.prefix}${after}` },
    keyOf: (path: string) => path.slice(bound.prefix.length),
  };
  const page =
    maxKeys === 0
      ? { contents: '', prefixes: '', count: 0, maxKeys, last: undefined }
      : await objectPage(call, listing, place);
  return { ...page, commitId: call.commitId };
}

async function refPage(call: Call, listing: Listing, ref: string, prefix: string): Promise<Page> {
  const start = startWithinRef(listing.after, `${ref}/`);
  const keyOf = (path: string): string => `${ref}/${path}`;
  const commitId = await commitOfTime(call, ref);
  const page = await objectPage(call, listing, { ref: commitId ?? ref, prefix, start, keyOf });
  return { ...page, commitId };
}

/** A time that was typed wrong, or that nobody knows, must not read as "no data". */
async function commitOfTime({ services, repository }: Call, ref: string): Promise<string | undefined> {
  if (!isTimeRef(ref)) return undefined;
  try {
    return (await services.engine.refs.resolve({ repository: repository.id, ref })).commitId;
  } catch (error) {
    if (!isUnknownRef(error)) throw error;
    throw new S3Error('InvalidArgument', error.message);
  }
}

function isUnknownRef(error: unknown): error is EngineError {
  return error instanceof EngineError && (error.kind === 'not_found' || error.kind === 'invalid');
}

interface ListedPlace {
  readonly ref: string;
  readonly prefix: string;
  /** Undefined: the page begins behind all of it. */
  readonly start: { readonly after: string | undefined } | undefined;
  /** The key that clients know a path by. */
  readonly keyOf: (path: string) => string;
}

async function branchPage(call: Call, listing: Listing, prefix: string): Promise<Page> {
  const maxKeys = Math.min(listing.maxKeys, maxBranchPage);
  const page = await call.services.engine.branches.list({
    repository: call.repository.id,
    prefix,
    after: listing.after?.replace(/\/$/, ''),
    amount: maxKeys,
  });
  let prefixes = '';
  for (const branch of page.items)
    prefixes += `<CommonPrefixes><Prefix>${listing.encode(`${branch.id}/`)}</Prefix></CommonPrefixes>`;
  const last = page.hasMore ? `${page.items.at(-1)?.id ?? ''}/` : undefined;
  return { contents: '', prefixes, count: page.items.length, maxKeys, last };
}

async function objectPage(
  call: Call,
  listing: Listing,
  { ref, prefix, start, keyOf }: ListedPlace,
): Promise<Page> {
  const maxKeys = Math.min(listing.maxKeys, maxObjectPage);
  const page =
    start === undefined
      ? undefined
      : await listRef(call, { listing, ref, prefix, after: start.after, amount: maxKeys });
  if (page === undefined) return { contents: '', prefixes: '', count: 0, maxKeys, last: undefined };
  const owner = listing.fetchOwner ? person('Owner', call.identity.user.username) : '';
  let contents = '';
  let prefixes = '';
  page.visit((item) => {
    const key = escapeXml(listing.encode(keyOf(item.path)));
    if (item.kind === 'common_prefix') prefixes += `<CommonPrefixes><Prefix>${key}</Prefix></CommonPrefixes>`;
    else
      contents +=
        `<Contents><Key>${key}</Key><LastModified>${xmlTime(item.mtime)}</LastModified>` +
        `<ETag>${escapeXml(quotedEtag(item.etag))}</ETag><Size>${item.size}</Size>` +
        `<StorageClass>STANDARD</StorageClass>${owner}</Contents>`;
  });
  const last = page.hasMore ? keyOf(page.nextOffset) : undefined;
  page.release();
  return { contents, prefixes, count: page.count, maxKeys, last };
}

interface RefRange {
  readonly listing: Listing;
  readonly ref: string;
  readonly prefix: string;
  readonly after: string | undefined;
  readonly amount: number;
}

/** A ref that does not exist has no objects: clients ask for existence by listing. */
async function listRef(call: Call, range: RefRange): Promise<ObjectPage | undefined> {
  try {
    return await call.services.engine.objects.list({
      repository: call.repository.id,
      ref: range.ref,
      prefix: range.prefix,
      delimiter: range.listing.delimiter,
      after: range.after,
      amount: range.amount,
      maxAmount: maxObjectPage,
    });
  } catch (error) {
    if (!isUnknownRef(error)) throw error;
    return undefined;
  }
}

/** The path a marker stands for within one ref, in byte order; undefined when it lies behind all of it. */
function startWithinRef(
  marker: string | undefined,
  refPrefix: string,
): { readonly after: string | undefined } | undefined {
  if (marker === undefined) return { after: undefined };
  if (marker.startsWith(refPrefix)) return { after: marker.slice(refPrefix.length) };
  return Buffer.compare(Buffer.from(marker), Buffer.from(refPrefix)) < 0 ? { after: undefined } : undefined;
}

function render(call: Call, listing: Listing, page: Page): string {
  const { query } = call.request;
  const { encode } = listing;
  const truncated = page.last !== undefined;
  const name = element('Name', call.bucket);
  const prefix = element('Prefix', encode(listing.prefix));
  const delimiter = element(
    'Delimiter',
    listing.delimiter === undefined ? undefined : encode(listing.delimiter),
  );
  const maxKeys = element('MaxKeys', page.maxKeys);
  const encodingType = element('EncodingType', query.text('encoding-type'));
  const isTruncated = element('IsTruncated', truncated);
  const items = page.contents + page.prefixes;
  if (listing.version === 1)
    return document(
      'ListBucketResult',
      name +
        prefix +
        element('Marker', encode(query.get('marker') ?? '')) +
        element('NextMarker', page.last === undefined ? undefined : encode(page.last)) +
        delimiter +
        maxKeys +
        encodingType +
        isTruncated +
        items,
    );
  const startAfter = query.text('start-after');
  return document(
    'ListBucketResult',
    name +
      prefix +
      delimiter +
      maxKeys +
      element('KeyCount', page.count) +
      encodingType +
      isTruncated +
      element('ContinuationToken', query.text('continuation-token')) +
      element('NextContinuationToken', page.last === undefined ? undefined : encodeToken(page.last)) +
      element('StartAfter', startAfter === undefined ? undefined : encode(startAfter)) +
      items,
  );
}
