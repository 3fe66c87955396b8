import type { Call } from '../call.ts';
import { S3Error } from '../errors/s3-error.ts';
import { branchOf } from './write-conditions.ts';

const emptyEtag = '"d41d8cd98f00b204e9800998ecf8427e"';

/** `PUT /<repository>/<branch>/`: a directory marker of the branch root, which exists anyway. Stores nothing. */
export async function putBranchMarker(call: Call): Promise<void> {
  if (call.ref === '') throw new S3Error('NoSuchBucket');
  if (!call.slashAfterRef || call.body.size > 0)
    throw new S3Error('InvalidArgument', 'An object needs a path after the branch: <branch>/<path>.');
  await call.services.engine.branches.get({ repository: call.repository.id, branch: branchOf(call) });
  const body = await call.body.readDocument(0);
  if (body.length > 0) throw new S3Error('InvalidArgument');
  call.reply.empty(200, { ETag: emptyEtag });
}
