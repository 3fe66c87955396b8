import { isChecksumAlgorithm } from '../body/checksums.ts';
import type { Call } from '../call.ts';
import { parseCopyRange } from '../request/range.ts';
import { headerText } from '../request/s3-request.ts';
import { document, element } from '../xml/write.ts';
import { copying } from './copy-failure.ts';
import { checkCopyConditions, checkSameStorage, copySourceOf } from './copy-source.ts';
import { xmlTime } from './entry-headers.ts';
import { partNumberOf, uploadTargetOf } from './multipart-target.ts';
import { checksumElements, checksumInHeaders } from './object-checksum.ts';

export async function uploadPartCopy(call: Call): Promise<void> {
  const { objects, uploads } = call.services.engine;
  const source = copySourceOf(call);
  const partNumber = partNumberOf(call);
  const target = uploadTargetOf(call);
  const upload = await uploads.get(target);
  const digest = isChecksumAlgorithm(upload.checksumAlgorithm) ? upload.checksumAlgorithm : undefined;
  const rangeHeader = headerText(call.request, 'x-amz-copy-source-range');
  const part = await copying(async () => {
    await checkSameStorage(call, source);
    const range =
      rangeHeader === undefined ? undefined : parseCopyRange(rangeHeader, (await objects.stat(source)).size);
    return uploads.copyPart({
      ...target,
      partNumber,
      source,
      range,
      digest,
      checkSource: (found) => checkCopyConditions(call, found),
    });
  });
  call.reply.xml(
    200,
    document(
      'CopyPartResult',
      element('LastModified', xmlTime(part.lastModified)) +
        element('ETag', `"${part.etag}"`) +
        checksumElements(checksumInHeaders(part.checksums), false),
    ),
  );
}
