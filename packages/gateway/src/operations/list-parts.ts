import { keyOf, type Call } from '../call.ts';
import { document, element } from '../xml/write.ts';
import { xmlTime } from './entry-headers.ts';
import { integerParameter, maxInt32 } from './integer-parameter.ts';
import { shownChecksum, uploadChecksumElements } from './multipart-checksums.ts';
import { uploadTargetOf } from './multipart-target.ts';
import { checksumElements } from './object-checksum.ts';
import { person } from './person.ts';

const maxPage = 1000;

export async function listParts(call: Call): Promise<void> {
  const { query } = call.request;
  const { uploads } = call.services.engine;
  const target = uploadTargetOf(call);
  const asked = integerParameter(query, { name: 'max-parts', absent: maxPage, min: 0, max: maxInt32 });
  const maxParts = Math.min(asked, maxPage);
  const marker = integerParameter(query, { name: 'part-number-marker', absent: 0, min: 0, max: maxInt32 });
  const upload = await uploads.get(target);
  const page =
    maxParts === 0
      ? { parts: [], hasMore: false }
      : await uploads.listParts({ ...target, after: marker, amount: maxParts });
  let parts = '';
  for (const part of page.parts)
    parts +=
      `<Part>${element('PartNumber', part.partNumber)}${element('LastModified', xmlTime(part.lastModified))}` +
      `${element('ETag', `"${part.etag}"`)}${element('Size', part.size)}` +
      `${checksumElements(shownChecksum(part, upload), false)}</Part>`;
  call.reply.xml(
    200,
    document(
      'ListPartsResult',
      element('Bucket', call.bucket) +
        element('Key', keyOf(call)) +
        element('UploadId', target.uploadId) +
        person('Initiator', upload.owner) +
        person('Owner', upload.owner) +
        element('StorageClass', upload.storageClass === '' ? 'STANDARD' : upload.storageClass) +
        element('PartNumberMarker', marker) +
        element('NextPartNumberMarker', page.parts.at(-1)?.partNumber ?? marker) +
        element('MaxParts', maxParts) +
        element('IsTruncated', page.hasMore) +
        uploadChecksumElements(upload) +
        parts,
    ),
  );
}
