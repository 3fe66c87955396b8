import { tagMap } from '@svc/engine';
import { keyOf, type Call } from '../call.ts';
import { describeObject } from '../metadata/object-metadata.ts';
import { document, element } from '../xml/write.ts';
import { uploadChecksumOf } from './multipart-checksums.ts';
import { taggingHeaderOf } from './object-tagging.ts';
import { branchOf } from './write-conditions.ts';

export async function createMultipartUpload(call: Call): Promise<void> {
  const description = describeObject(call.request, call.presigned);
  const checksum = uploadChecksumOf(call.request);
  const tags = taggingHeaderOf(call.request, call.presigned);
  const branch = branchOf(call);
  const upload = await call.services.engine.uploads.create({
    repository: call.repository.id,
    branch,
    path: call.path,
    owner: call.identity.user.username,
    metadata: tags === undefined ? description.metadata : { ...description.metadata, ...tagMap(tags) },
    contentType: description.contentType,
    storageClass: description.storageClass,
    checksumAlgorithm: checksum.algorithm,
    checksumType: checksum.type,
    bucket: call.bound,
  });
  const headers: Record<string, string> =
    checksum.algorithm === undefined
      ? {}
      : {
          'x-amz-checksum-algorithm': checksum.algorithm.toUpperCase(),
          'x-amz-checksum-type': checksum.type ?? '',
        };
  call.reply.xml(
    200,
    document(
      'InitiateMultipartUploadResult',
      element('Bucket', call.bucket) + element('Key', keyOf(call)) + element('UploadId', upload.uploadId),
    ),
    headers,
  );
}
