import type { UploadTarget } from '@svc/engine';
import type { Call } from '../call.ts';
import { S3Error } from '../errors/s3-error.ts';
import { readPartNumber } from './part-read.ts';
import { isBranchName } from './write-conditions.ts';

/** The upload a request names; repository, branch and path must be the ones it was created for. */
export function uploadTargetOf(call: Call): UploadTarget {
  const uploadId = call.request.query.get('uploadId') ?? '';
  // We make these ids: text of another form cannot be one.
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(uploadId) || !isBranchName(call.ref)) throw new S3Error('NoSuchUpload');
  return { repository: call.repository.id, branch: call.ref, path: call.path, uploadId };
}

export function partNumberOf(call: Call): number {
  return readPartNumber(call.request.query.get('partNumber') ?? '');
}
