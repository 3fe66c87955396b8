import { EngineError, isFieldValue, isTimeRef, type ObjectEntry, type ShownObject } from '@svc/engine';
import type { Call } from '../call.ts';
import { S3Error } from '../errors/s3-error.ts';
import { fieldValue } from '../metadata/object-metadata.ts';
import { evaluateConditions, rangeStillValid } from '../request/conditions.ts';
import { parseRange, type ByteRange } from '../request/range.ts';
import { shownBy } from '../routing/bucket.ts';
import { headerText, type S3Request } from '../request/s3-request.ts';
import { entryHeaders } from './entry-headers.ts';
import { addChecksumHeaders, wantsChecksum } from './object-checksum.ts';
import { partReadOf, readChecksum, readPartNumber } from './part-read.ts';

/** What HEAD and GET agree on before any data is touched. */
export interface ObjectRead {
  readonly status: 200 | 206 | 304;
  readonly headers: Record<string, string>;
  readonly entry: ObjectEntry;
  /** Undefined: the whole object. */
  readonly range: ByteRange | undefined;
  readonly length: number;
}

const overrides: ReadonlyMap<string, string> = new Map([
  ['response-content-type', 'Content-Type'],
  ['response-content-language', 'Content-Language'],
  ['response-expires', 'Expires'],
  ['response-cache-control', 'Cache-Control'],
  ['response-content-disposition', 'Content-Disposition'],
  ['response-content-encoding', 'Content-Encoding'],
]);
const overrideNames: ReadonlySet<string> = new Set(overrides.keys());

async function findObject({ services, repository, ref, path, bound }: Call): Promise<ShownObject> {
  try {
    return await services.engine.objects.find({ repository: repository.id, ref, path });
  } catch (error) {
    // Where the bucket shows nothing, that is what the client must know.
    if (bound !== undefined && error instanceof EngineError) await shownBy(services, repository, bound);
    throw error;
  }
}

export async function readObject(call: Call): Promise<ObjectRead> {
  const { request, services, ref, path } = call;
  checkReadVersion(call);
  if (ref === '' || path === '') throw new S3Error('NoSuchKey');
  const partNumber = request.query.text('partNumber');
  if (partNumber !== undefined) readPartNumber(partNumber);
  const { entry, commitId } = await findObject(call);
  const headers = entryHeaders(entry);
  if (call.bound !== undefined || isTimeRef(ref)) headers['X-Svc-Commit'] = commitId;
  const validators = { etag: entry.etag, modifiedSeconds: entry.mtime.seconds };
  const outcome = evaluateConditions(
    {
      ifMatch: headerText(request, 'if-match'),
      ifNoneMatch: headerText(request, 'if-none-match'),
      ifModifiedSince: headerText(request, 'if-modified-since'),
      ifUnmodifiedSince: headerText(request, 'if-unmodified-since'),
    },
    validators,
    Math.floor(services.now() / 1000),
  );
  if (outcome === 'failed') throw new S3Error('PreconditionFailed');
  if (outcome === 'not_modified') {
    const { ETag = '', 'Last-Modified': lastModified = '' } = headers;
    return {
      status: 304,
      headers: { ETag, 'Last-Modified': lastModified },
      entry,
      range: undefined,
      length: 0,
    };
  }
  if (request.query.firstOf(overrideNames) !== undefined) {
    // Nobody signed the link: whoever passes it on must not choose what the browser makes of the object.
    if (call.identity.method === 'anonymous')
      throw new S3Error('InvalidRequest', 'Sign the request to choose headers of the answer.');
    overrideHeaders(request, headers);
  }
  const part = partReadOf(request, entry);
  const range =
    part === undefined
      ? rangeOf(call, entry, rangeStillValid(headerText(request, 'if-range'), validators))
      : part.range;
  if (range === 'unsatisfiable')
    throw new S3Error('InvalidRange', undefined, {
      headers: { 'Content-Range': `bytes */${entry.size}` },
      elements: [
        ['RangeRequested', request.headers.get('range') ?? ''],
        ['ActualObjectSize', String(entry.size)],
      ],
    });
  if (part?.count !== undefined) headers['x-amz-mp-parts-count'] = String(part.count);
  if (wantsChecksum(call)) addChecksumHeaders(headers, readChecksum(entry, range, part));
  const length = range === undefined ? entry.size : range.end - range.start + 1;
  headers['Content-Length'] = String(length);
  if (range === undefined) return { status: 200, headers, entry, range, length };
  headers['Content-Range'] = `bytes ${range.start}-${range.end}/${entry.size}`;
  return { status: 206, headers, entry, range, length };
}

function overrideHeaders({ query }: S3Request, headers: Record<string, string>): void {
  for (const [parameter, header] of overrides) {
    const value = query.text(parameter);
    if (value === undefined) continue;
    if (!isFieldValue(value))
      throw new S3Error('InvalidArgument', `${parameter} must not contain control characters.`);
    headers[header] = fieldValue(value);
  }
}

function rangeOf(call: Call, entry: ObjectEntry, valid: boolean): ByteRange | 'unsatisfiable' | undefined {
  return valid ? parseRange(call.request.headers.get('range'), entry.size) : undefined;
}

/** There is one version of each object per ref; `null` names it. */
function checkReadVersion(call: Call): void {
  const version = call.request.query.text('versionId');
  if (version !== undefined && version !== 'null') throw new S3Error('NoSuchVersion');
}
