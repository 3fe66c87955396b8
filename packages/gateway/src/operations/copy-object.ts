import type { Call } from '../call.ts';
import { S3Error } from '../errors/s3-error.ts';
import { describeObject } from '../metadata/object-metadata.ts';
import { document, element } from '../xml/write.ts';
import { copying } from './copy-failure.ts';
import { checkCopyConditions, checkSameStorage, copySourceOf } from './copy-source.ts';
import { quotedEtag, xmlTime } from './entry-headers.ts';
import { branchOf, writeConditionOf } from './write-conditions.ts';

/** Copies data and description; `REPLACE` takes the description from the request instead. */
export async function copyObject(call: Call): Promise<void> {
  const { objects } = call.services.engine;
  const source = copySourceOf(call.request);
  const replaced = replacesMetadata(call) ? describeObject(call.request, call.presigned) : undefined;
  const destination = { repository: call.repository.id, branch: branchOf(call), path: call.path };
  const condition = writeConditionOf(call.request);
  await objects.checkUpload({ ...destination, ...condition });
  const entry = await copying(async () => {
    await checkSameStorage(call, source);
    return objects.copy({
      source,
      destination,
      ...condition,
      metadata: replaced?.metadata,
      contentType: replaced?.contentType,
      checkSource: (found) => checkCopyConditions(call, found),
    });
  });
  call.reply.xml(
    200,
    document(
      'CopyObjectResult',
      element('LastModified', xmlTime(entry.mtime)) + element('ETag', quotedEtag(entry.etag)),
    ),
  );
}

function replacesMetadata(call: Call): boolean {
  const directive = call.request.headers.get('x-amz-metadata-directive');
  if (directive === undefined || directive === '' || directive === 'COPY') return false;
  if (directive === 'REPLACE') return true;
  throw new S3Error('InvalidArgument', 'x-amz-metadata-directive must be COPY or REPLACE.');
}
