import type { Call } from '../call.ts';
import { algorithmToCompute } from './multipart-checksums.ts';
import { partNumberOf, uploadTargetOf } from './multipart-target.ts';

export async function uploadPart(call: Call): Promise<void> {
  const { body } = call;
  const { uploads } = call.services.engine;
  const target = uploadTargetOf(call);
  const partNumber = partNumberOf(call);
  body.compute(algorithmToCompute(await uploads.get(target), body.announced));
  let verified: Record<string, string> = {};
  const part = await uploads.putPart({
    ...target,
    partNumber,
    body: await body.open(),
    digests: body.digests,
    verify: (digests) => {
      verified = { ...body.verify(digests), ...body.computed(digests) };
      return verified;
    },
  });
  call.reply.empty(200, { ETag: `"${part.etag}"`, ...verified });
}
