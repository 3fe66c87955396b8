import type { Identity, KeyView } from '@svc/auth';
import { EngineError, type BoundBucket, type Bucket, type Repository } from '@svc/engine';
import { S3Error } from '../errors/s3-error.ts';
import type { Services } from '../services.ts';
import type { Address } from './address.ts';

const bucketName = /^[a-z0-9][a-z0-9-]{2,62}$/;

/** A bucket that stands for a ref, or a folder of it, as a request names a key in it. */
export interface BoundKey extends BoundBucket {
  /** As the client wrote it; empty for the bucket itself. */
  readonly key: string;
}

/** As `findBucket`, without waiting: undefined when one must wait to know, or when there is none. */
export function findBucketAtOnce(
  { engine }: Pick<Services, 'engine'>,
  { hasView }: Identity,
  bucket: string,
): Bucket | undefined {
  return hasView === true || !bucketName.test(bucket) ? undefined : engine.bindings.findBucketAtOnce(bucket);
}

/** Where a bucket leads; undefined when there is none. */
export async function findBucket(
  { engine }: Pick<Services, 'engine'>,
  identity: Identity,
  bucket: string,
): Promise<Bucket | undefined> {
  const { accessKeyId, hasView, view } = identity;
  try {
    if (view !== undefined) return await bucketOfView(engine, view, bucket);
    if (hasView === true && accessKeyId !== undefined) {
      return await engine.bindings.findBucketOfKey({ accessKeyId, bucket });
    }
    return bucketName.test(bucket) ? await engine.bindings.findBucket(bucket) : undefined;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    if (error.kind === 'forbidden') throw new S3Error('AccessDenied', error.message);
    if (error.kind === 'not_found' || error.kind === 'in_deletion') return undefined;
    throw error;
  }
}

/** The one bucket of a temporary key. */
async function bucketOfView(engine: Services['engine'], view: KeyView, bucket: string): Promise<Bucket> {
  if (view.bucket !== bucket) throw new S3Error('AccessDenied', 'this access key is bound to another bucket');
  const repository = await engine.repositories.get(view.repository);
  if (repository.instanceUid !== view.instanceUid)
    throw new S3Error(
      'NoSuchBucket',
      `repository '${view.repository}' was made anew since this key was given`,
    );
  const { ref, readOnly } = view;
  return { repository, bound: { bucket, ref, prefix: '', readOnly } };
}

/** In a bound bucket everything behind its name is the key. */
export function keyIn({ ref, path, slashAfterRef }: Address): string {
  if (ref === undefined) return '';
  return slashAfterRef ? `${ref}/${path}` : ref;
}

/** The address that a key of a bound bucket stands for. */
export function boundAddress(
  repository: Repository,
  { key, ref, prefix }: BoundKey,
  { virtualHost }: Address,
): Address {
  return key === ''
    ? { repository: repository.id, ref: undefined, path: '', slashAfterRef: false, virtualHost }
    : { repository: repository.id, ref, path: `${prefix}${key}`, slashAfterRef: true, virtualHost };
}

/** What a bound bucket shows to this request. */
export interface Shown {
  readonly commitId: string;
  /** To read from: of a plain branch with its uncommitted changes, else the commit. */
  readonly ref: string;
  readonly writable: boolean;
}

export async function shownBy(
  services: Services,
  repository: Repository,
  bound: BoundBucket,
): Promise<Shown> {
  try {
    const { ref } = bound;
    const resolved = await services.engine.refs.resolve({ repository: repository.id, ref });
    const isBranch = resolved.kind === 'branch' && resolved.branch === ref;
    return {
      commitId: resolved.commitId,
      ref: resolved.staged ? ref : resolved.commitId,
      writable: isBranch && !bound.readOnly,
    };
  } catch (error) {
    if (!(error instanceof EngineError) || (error.kind !== 'not_found' && error.kind !== 'invalid'))
      throw error;
    throw new S3Error(
      'NoSuchBucket',
      `bucket '${bound.bucket}' shows '${bound.ref}', which is not there: ${error.message}`,
    );
  }
}

export function notWritable({ bucket, ref }: BoundBucket, { commitId }: Shown): S3Error {
  const shown = /^[0-9a-f]{64}$/.test(ref) ? `commit ${commitId.slice(0, 8)}` : `'${ref}'`;
  return new S3Error(
    'AccessDenied',
    `bucket '${bucket}' shows ${shown} and cannot be written; write to a branch`,
  );
}
