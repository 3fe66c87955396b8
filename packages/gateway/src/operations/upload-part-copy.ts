import type { Call } from '../call.ts';
import { S3Error } from '../errors/s3-error.ts';
import { parseCopyRange } from '../request/range.ts';
import { headerText } from '../request/s3-request.ts';
import { document, element } from '../xml/write.ts';
import { copying } from './copy-failure.ts';
import { checkCopyConditions, checkSameStorage, copySourceOf } from './copy-source.ts';
import { xmlTime } from './entry-headers.ts';
import { partNumberOf, uploadTargetOf } from './multipart-target.ts';

export async function uploadPartCopy(call: Call): Promise<void> {
  const { objects, uploads } = call.services.engine;
  const source = copySourceOf(call.request);
  const target = uploadTargetOf(call);
  const partNumber = partNumberOf(call);
  await uploads.get(target);
  const rangeHeader = headerText(call.request, 'x-amz-copy-source-range');
  const part = await copying(async () => {
    await checkSameStorage(call, source);
    const range =
      rangeHeader === undefined ? undefined : parseCopyRange(rangeHeader, (await objects.stat(source)).size);
    if (rangeHeader !== undefined && range === undefined)
      throw new S3Error(
        'InvalidArgument',
        'x-amz-copy-source-range must be bytes=first-last within the source object.',
      );
    return uploads.copyPart({
      ...target,
      partNumber,
      source,
      range,
      checkSource: (found) => checkCopyConditions(call, found),
    });
  });
  call.reply.xml(
    200,
    document(
      'CopyPartResult',
      element('LastModified', xmlTime(part.lastModified)) + element('ETag', `"${part.etag}"`),
    ),
  );
}
