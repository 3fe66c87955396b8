import { timestampToMillis } from '@svc/encoding';
import type { Call } from '../call.ts';
import { S3Error } from '../errors/s3-error.ts';
import { headerText } from '../request/s3-request.ts';
import { parseHttpDate } from '../signature/request-time.ts';
import { uploadTargetOf } from './multipart-target.ts';

export async function abortMultipartUpload(call: Call): Promise<void> {
  const { uploads } = call.services.engine;
  const target = uploadTargetOf(call);
  const header = headerText(call.request, 'x-amz-if-match-initiated-time');
  const begun = header === undefined ? undefined : parseHttpDate(header);
  // A time to come cannot be meant.
  if (begun !== undefined && begun <= call.services.now()) {
    const { creationDate } = await uploads.get(target);
    if (Math.floor(timestampToMillis(creationDate) / 1000) !== Math.floor(begun / 1000))
      throw new S3Error('PreconditionFailed', undefined, {
        elements: [['Condition', 'x-amz-if-match-initiated-time']],
      });
  }
  await uploads.abort(target);
  call.reply.empty(204);
}
