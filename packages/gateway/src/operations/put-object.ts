import { tagMap } from '@svc/engine';
import type { Call } from '../call.ts';
import { describeObject } from '../metadata/object-metadata.ts';
import { quotedEtag } from './entry-headers.ts';
import { checksumMetadata, unaskedChecksum } from './object-checksum.ts';
import { taggingHeaderOf } from './object-tagging.ts';
import { branchOf, writeConditionOf } from './write-conditions.ts';

export async function putObject(call: Call): Promise<void> {
  const { services, request, body, record } = call;
  const { objects } = services.engine;
  const description = describeObject(request, call.presigned);
  const tags = taggingHeaderOf(request, call.presigned);
  const target = {
    repository: call.repository.id,
    opened: call.repository,
    branch: branchOf(call),
    path: call.path,
    contentType: description.contentType,
    metadata: tags === undefined ? description.metadata : { ...description.metadata, ...tagMap(tags) },
    ...writeConditionOf(request),
  };
  if (call.expectsContinue) await objects.checkUpload(target);
  if (body.announced === undefined) body.compute(unaskedChecksum(body));
  let verified: Record<string, string> = {};
  const entry = await objects.upload({
    ...target,
    storageClass: description.storageClass,
    body: await body.open(),
    digests: body.digests,
    verify: (digests) => {
      verified = { ...body.verify(digests), ...body.computed(digests) };
      return checksumMetadata(verified);
    },
  });
  record.bytesIn = entry.size;
  const headers: Record<string, string> = {
    ETag: quotedEtag(entry.etag),
    'x-amz-object-size': String(entry.size),
    ...verified,
  };
  if (Object.keys(verified).length > 0) headers['x-amz-checksum-type'] = 'FULL_OBJECT';
  call.reply.empty(200, headers);
}
