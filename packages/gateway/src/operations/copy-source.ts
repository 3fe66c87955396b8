import { isUtf8 } from 'node:buffer';
import type { Identity } from '@svc/auth';
import { sigV4Decode } from '@svc/encoding';
import type { ObjectEntry, ObjectLocation } from '@svc/engine';
import type { Call } from '../call.ts';
import { invalidArgument } from '../errors/invalid-argument.ts';
import { S3Error } from '../errors/s3-error.ts';
import { findBucket } from '../routing/bucket.ts';
import type { Services } from '../services.ts';
import { evaluateConditions } from '../request/conditions.ts';
import { headerText, type S3Request } from '../request/s3-request.ts';

/** Where a copy reads from, or why there is no such place; undefined where nothing is copied. */
export type LocatedSource = ObjectLocation | S3Error | undefined;

/** The place that `x-amz-copy-source` names. */
export async function locateCopySource(
  services: Pick<Services, 'engine'>,
  identity: Identity,
  request: S3Request,
): Promise<LocatedSource> {
  if (!request.headers.has('x-amz-copy-source')) return undefined;
  try {
    const source = readCopySource(request);
    const found = await findBucket(services, identity, source.bucket);
    if (found?.bound === undefined) return sourceInRepository(source);
    if (source.key === '') throw invalidSource('Invalid copy source object key', source.name);
    const { ref, prefix } = found.bound;
    return { repository: found.repository.id, ref, path: `${prefix}${source.key}` };
  } catch (error) {
    if (error instanceof S3Error) return error;
    throw error;
  }
}

export function copySourceOf({ copySource }: Call): ObjectLocation {
  if (copySource === undefined) throw invalidSource('Invalid copy source object key', '');
  if (copySource instanceof S3Error) throw copySource;
  return copySource;
}

interface NamedSource {
  /** As sent. */
  readonly name: string;
  readonly bucket: string;
  readonly key: string;
}

/** Reads `x-amz-copy-source`: `[/]<bucket>/<key>[?versionId=null]`, percent-encoded. */
function readCopySource(request: S3Request): NamedSource {
  const [name = '', version = ''] = (request.headers.get('x-amz-copy-source') ?? '').split('?versionId=', 2);
  if (version !== '' && version !== 'null') throw new S3Error('NoSuchVersion');
  if (/%(?![0-9A-Fa-f]{2})/.test(name)) throw invalidSource('Invalid copy source encoding', name);
  const bytes = sigV4Decode(name, 'space');
  const [bucket = '', ...rest] = bytes
    .toString(isUtf8(bytes) ? 'utf8' : 'latin1')
    .replace(/^\/+/, '')
    .split('/');
  if (!/^[a-z0-9][a-z0-9-]{2,62}$/.test(bucket)) throw invalidSource('Invalid copy source bucket name', name);
  return { name, bucket, key: rest.join('/') };
}

/** The key of a repository is `<ref>/<path>`. */
function sourceInRepository({ name, bucket, key }: NamedSource): ObjectLocation {
  const [ref = '', ...rest] = key.split('/');
  const path = rest.join('/');
  if (ref === '' || path === '') throw invalidSource('Invalid copy source object key', name);
  return { repository: bucket, ref, path };
}

function invalidSource(message: string, source: string): S3Error {
  return invalidArgument(message, 'x-amz-copy-source', source);
}

/** Refuses the copy with 412 when an `x-amz-copy-source-if-*` header does not hold for the source. */
export function checkCopyConditions(call: Call, source: ObjectEntry): void {
  const { request, services } = call;
  const outcome = evaluateConditions(
    {
      ifMatch: headerText(request, 'x-amz-copy-source-if-match'),
      ifNoneMatch: headerText(request, 'x-amz-copy-source-if-none-match'),
      ifModifiedSince: headerText(request, 'x-amz-copy-source-if-modified-since'),
      ifUnmodifiedSince: headerText(request, 'x-amz-copy-source-if-unmodified-since'),
    },
    { etag: source.etag, modifiedSeconds: source.mtime.seconds },
    Math.floor(services.now() / 1000),
  );
  if (outcome !== 'proceed') throw new S3Error('PreconditionFailed');
}

/** Copies stay within one store. Call it only once the source repository is known to exist. */
export async function checkSameStorage(call: Call, source: ObjectLocation): Promise<void> {
  if (source.repository === call.repository.id) return;
  const repository = await call.services.engine.repositories.get(source.repository);
  if (repository.storageId !== call.repository.storageId)
    throw new S3Error('InvalidRequest', 'Source and destination repositories are on different storages.');
}
