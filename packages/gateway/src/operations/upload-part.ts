import type { Call } from '../call.ts';
import { algorithmToCompute } from './multipart-checksums.ts';
import { partNumberOf, uploadTargetOf } from './multipart-target.ts';

export async function uploadPart(call: Call): Promise<void> {
  const { body } = call;
  const { uploads } = call.services.engine;
  const target = uploadTargetOf(call);
  const partNumber = partNumberOf(call);
  const algorithm = algorithmToCompute(await uploads.get(target), body.announced);
  body.compute(algorithm);
  let verified: Record<string, string> = {};
  const part = await uploads.putPart({
    ...target,
    partNumber,
    body: await body.open(),
    digests: body.digests,
    verify: (digests) => {
      const computed = body.computed(digests);
      verified = body.verify(digests);
      const kept = { ...verified, ...computed };
      if (body.announced === undefined) verified = computed;
      return kept;
    },
  });
  call.reply.empty(200, { ETag: `"${part.etag}"`, ...verified });
}
