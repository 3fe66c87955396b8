import { EngineError } from '@svc/engine';
import type { Call } from '../call.ts';
import { S3Error } from '../errors/s3-error.ts';
import { unquote } from '../request/conditions.ts';
import { headerText } from '../request/s3-request.ts';
import { notHonoured } from './refused-headers.ts';
import { isBranchName } from './write-conditions.ts';

/** 204 whether or not there was an object, and whether or not there is such a branch. */
export async function deleteObject(call: Call): Promise<void> {
  const version = call.request.query.text('versionId');
  if (version !== undefined && version !== 'null')
    throw new S3Error('InvalidArgument', 'Invalid version id specified');
  for (const name of ['x-amz-if-match-size', 'x-amz-if-match-last-modified-time'])
    if (headerText(call.request, name) !== undefined) throw notHonoured(name);
  const ifMatch = headerText(call.request, 'if-match');
  if (call.path !== '' && isBranchName(call.ref)) {
    try {
      await call.services.engine.objects.delete({
        repository: call.repository.id,
        branch: call.ref,
        path: call.path,
        ifMatch: ifMatch === undefined ? undefined : unquote(ifMatch),
      });
    } catch (error) {
      if (!(error instanceof EngineError && error.kind === 'not_found')) throw error;
    }
  }
  call.reply.empty(204);
}
