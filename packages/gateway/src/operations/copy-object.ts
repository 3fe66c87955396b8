import type { Call } from '../call.ts';
import { algorithmNamed } from '../body/checksums.ts';
import { invalidArgument } from '../errors/invalid-argument.ts';
import { S3Error } from '../errors/s3-error.ts';
import { describeObject } from '../metadata/object-metadata.ts';
import { headerText } from '../request/s3-request.ts';
import { document, element } from '../xml/write.ts';
import { copying } from './copy-failure.ts';
import { checkCopyConditions, checkSameStorage, copySourceOf } from './copy-source.ts';
import { quotedEtag, xmlTime } from './entry-headers.ts';
import { checksumElements, entryChecksum } from './object-checksum.ts';
import { taggingHeaderOf } from './object-tagging.ts';
import { branchOf, writeConditionOf } from './write-conditions.ts';

/** Copies data and description; `REPLACE` takes the description from the request instead. */
export async function copyObject(call: Call): Promise<void> {
  const { objects } = call.services.engine;
  const source = copySourceOf(call);
  const checksum = algorithmNamed(headerText(call.request, 'x-amz-checksum-algorithm'));
  const description = describeObject(call.request, call.presigned);
  const replaced = replaces(call, 'metadata') ? description : undefined;
  const tags = replaces(call, 'tagging') ? (taggingHeaderOf(call.request, call.presigned) ?? []) : undefined;
  const destination = { repository: call.repository.id, branch: branchOf(call), path: call.path };
  const isOntoItself =
    source.repository === destination.repository &&
    source.ref === destination.branch &&
    source.path === destination.path;
  const changes = replaced ?? tags ?? checksum ?? headerText(call.request, 'x-amz-storage-class');
  if (isOntoItself && changes === undefined)
    throw new S3Error(
      'InvalidRequest',
      "This copy request is illegal because it is trying to copy an object to itself without changing the object's " +
        'metadata, storage class, website redirect location or encryption attributes.',
    );
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
      tags,
      checksum,
      checkSource: (found) => checkCopyConditions(call, found),
    });
  });
  call.reply.xml(
    200,
    document(
      'CopyObjectResult',
      element('LastModified', xmlTime(entry.mtime)) +
        element('ETag', quotedEtag(entry.etag)) +
        checksumElements(entryChecksum(entry), true),
    ),
  );
}

function replaces(call: Call, what: 'metadata' | 'tagging'): boolean {
  const header = `x-amz-${what}-directive`;
  const directive = headerText(call.request, header);
  if (directive === undefined || directive === 'COPY') return false;
  if (directive === 'REPLACE') return true;
  throw invalidArgument(`Unknown ${what} directive.`, header, directive);
}
