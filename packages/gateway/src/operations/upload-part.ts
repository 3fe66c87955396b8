import type { Call } from '../call.ts';
import { partNumberOf, uploadTargetOf } from './multipart-target.ts';

export async function uploadPart(call: Call): Promise<void> {
  const { body } = call;
  const { uploads } = call.services.engine;
  const target = uploadTargetOf(call);
  const partNumber = partNumberOf(call);
  if (call.expectsContinue) await uploads.get(target);
  let verified: Record<string, string> = {};
  const part = await uploads.putPart({
    ...target,
    partNumber,
    body: await body.open(),
    digests: body.digests,
    verify: (digests) => {
      verified = body.verify(digests);
      return verified;
    },
  });
  call.reply.empty(200, { ETag: `"${part.etag}"`, ...verified });
}
