import type { Call } from '../call.ts';
import { describeObject } from '../metadata/object-metadata.ts';
import { document, element } from '../xml/write.ts';
import { branchOf } from './write-conditions.ts';

export async function createMultipartUpload(call: Call): Promise<void> {
  const description = describeObject(call.request, call.presigned);
  const branch = branchOf(call);
  const upload = await call.services.engine.uploads.create({
    repository: call.repository.id,
    branch,
    path: call.path,
    owner: call.identity.user.username,
    metadata: description.metadata,
    contentType: description.contentType,
    storageClass: description.storageClass,
  });
  call.reply.xml(
    200,
    document(
      'InitiateMultipartUploadResult',
      element('Bucket', call.repository.id) +
        element('Key', `${branch}/${call.path}`) +
        element('UploadId', upload.uploadId),
    ),
  );
}
