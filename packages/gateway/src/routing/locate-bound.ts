import type { Repository } from '@svc/engine';
import type { S3Request } from '../request/s3-request.ts';
import type { RequestRecord, Services } from '../services.ts';
import type { Address } from './address.ts';
import { boundAddress, type BoundKey } from './bucket.ts';
import { routeOf, type Route } from './route.ts';

/** Where a request leads once it is known what its bucket means. */
export interface Located extends Route {
  readonly address: Address;
  readonly repository: Repository | undefined;
  readonly bound: BoundKey | undefined;
  /** The request is about an upload, which stays where it began. */
  readonly isUpload: boolean;
}

interface Asking {
  readonly services: Services;
  readonly request: S3Request;
  readonly record: RequestRecord;
}

/** Where a key of a bound bucket leads; a promise only where an upload must be found. */
export function locateBound(
  asking: Asking,
  repository: Repository,
  bound: BoundKey,
  asked: Address,
): Located | Promise<Located> {
  const address = boundAddress(repository, bound, asked);
  const uploadId = bound.key === '' ? undefined : asking.request.query.text('uploadId');
  if (uploadId !== undefined) return locateUpload(asking, uploadId, { repository, bound, address });
  return locatedAt(asking, { repository, bound, address, isUpload: false });
}

async function locateUpload(
  asking: Asking,
  uploadId: string,
  { repository, bound, address }: Omit<LocatedAddress, 'isUpload'>,
): Promise<Located> {
  const { engine } = asking.services;
  const { bucket, key } = bound;
  const upload = await engine.uploads.findOfBucket({ bucket, key, uploadId });
  if (upload === undefined) return locatedAt(asking, { repository, bound, address, isUpload: false });
  return locatedAt(asking, {
    repository: await engine.repositories.get(upload.repository),
    bound,
    address: { ...address, repository: upload.repository, ref: upload.branch, path: upload.path },
    isUpload: true,
  });
}

interface LocatedAddress {
  readonly repository: Repository;
  readonly bound: BoundKey;
  readonly address: Address;
  readonly isUpload: boolean;
}

function locatedAt(asking: Asking, located: LocatedAddress): Located {
  const { repository, bound, address, isUpload } = located;
  asking.record.repository = address.repository;
  asking.record.ref = address.ref;
  asking.record.path = address.ref === undefined ? undefined : address.path;
  const { shape, operation } = routeOf(asking.request, address);
  return { shape, operation, address, repository, bound, isUpload };
}
