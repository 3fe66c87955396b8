import { isUtf8 } from 'node:buffer';
import type { StringMap } from '@svc/encoding';
import {
  isFieldValue,
  standardClass,
  storageClassMap,
  storedHeaderKey,
  storedHeaderOf,
  storedHeaders,
  type StoredHeader,
} from '@svc/engine';
import { S3Error } from '../errors/s3-error.ts';
import type { S3Request } from '../request/s3-request.ts';
import { refuseUnhonoured } from '../operations/refused-headers.ts';
import { decodeWords, encodeWords } from './encoded-words.ts';

const requestPrefix = 'x-amz-meta-';
/** How user metadata is named in an entry, and so in the API. */
const storedPrefix = 'X-Amz-Meta-';
const maxUserMetadata = 2048;
/** Those of AWS; a store may know fewer. */
const storageClasses: ReadonlySet<string> = new Set([
  standardClass,
  'REDUCED_REDUNDANCY',
  'STANDARD_IA',
  'ONEZONE_IA',
  'INTELLIGENT_TIERING',
  'GLACIER',
  'GLACIER_IR',
  'DEEP_ARCHIVE',
  'OUTPOSTS',
  'SNOW',
  'EXPRESS_ONEZONE',
]);
const printable = /^[ -~]*$/;
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** What a write request says about the object besides its bytes. */
export interface ObjectDescription {
  readonly contentType: string;
  /** User metadata and system headers, as stored in the entry. */
  readonly metadata: StringMap;
  readonly storageClass: string | undefined;
}

/** As S3 has it; what comes through the API is an `application/octet-stream`. */
export const defaultContentType = 'binary/octet-stream';

/** Reads the description from headers, and from the query of a presigned request. */
export function describeObject(request: S3Request, presigned: boolean): ObjectDescription {
  refuseUnhonoured(request);
  const metadata = Object.create(null) as Record<string, string>;
  let size = 0;
  const add = (name: string, value: string): void => {
    if (!token.test(name)) return;
    size += Buffer.byteLength(name) + Buffer.byteLength(value);
    metadata[storedPrefix + name] = value;
  };
  for (const [name, value] of request.headers)
    if (name.startsWith(requestPrefix))
      add(name.slice(requestPrefix.length), decodeWords(headerValue(value)));
  if (presigned)
    for (const [name, value] of request.query) {
      const lower = name.toLowerCase();
      if (lower.startsWith(requestPrefix)) add(lower.slice(requestPrefix.length), decodeWords(value));
    }
  if (size > maxUserMetadata)
    throw new S3Error('MetadataTooLarge', undefined, {
      elements: [
        ['Size', String(size)],
        ['MaxSizeAllowed', String(maxUserMetadata)],
      ],
    });
  for (const name of storedHeaders) {
    const value = headerToStore(request, name);
    if (value !== undefined && value !== '') metadata[storedHeaderKey(name)] = value;
  }
  const storageClass =
    request.headers.get('x-amz-storage-class') ??
    (presigned ? request.query.get('x-amz-storage-class') : undefined);
  if (storageClass !== undefined && storageClass !== '') {
    if (!storageClasses.has(storageClass)) throw new S3Error('InvalidStorageClass');
    if (storageClass !== standardClass) Object.assign(metadata, storageClassMap(storageClass));
  }
  const contentType = request.headers.get('content-type');
  return {
    contentType:
      contentType === undefined || contentType === '' ? defaultContentType : headerValue(contentType),
    metadata,
    storageClass: storageClass === '' ? undefined : storageClass,
  };
}

function headerToStore(request: S3Request, name: StoredHeader): string | undefined {
  const value = request.headers.get(name.toLowerCase());
  if (value === undefined || name !== 'Content-Encoding')
    return value === undefined ? undefined : headerValue(value);
  // How this one request was framed says nothing about the object.
  return value
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding.toLowerCase() !== 'aws-chunked')
    .join(', ');
}

/** Reads header bytes as UTF-8 if they are valid UTF-8. */
function headerValue(value: string): string {
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : value;
}

/** Adds the stored headers of an object to a response. */
export function addMetadataHeaders(metadata: StringMap, headers: Record<string, string>): void {
  let missing = 0;
  for (const key in metadata) {
    const value = metadata[key] ?? '';
    if (key.startsWith(storedPrefix)) {
      const name = key.slice(storedPrefix.length).toLowerCase();
      if (token.test(name)) headers[requestPrefix + name] = encodeWords(value);
      else missing++;
      continue;
    }
    // Anybody may have written the entry: send only these few headers, and only with valid values.
    const stored = storedHeaderOf(key);
    if (stored !== undefined && isFieldValue(value)) headers[stored] = fieldValue(value);
  }
  if (missing > 0) headers['x-amz-missing-meta'] = String(missing);
}

/** A text as header bytes. It must be a field value. */
export function fieldValue(value: string): string {
  return printable.test(value) ? value : Buffer.from(value, 'utf8').toString('latin1');
}

/** A stored text as header bytes; control characters could split the response and are dropped. */
export function safeHeaderValue(value: string): string {
  return fieldValue(printable.test(value) ? value : value.replaceAll(/\p{Cc}/gu, ''));
}
