import type { Call } from '../call.ts';
import { document, element } from '../xml/write.ts';
import { xmlTime } from './entry-headers.ts';
import { integerParameter, maxInt32, urlEncoding } from './integer-parameter.ts';
import { encodeListed } from './listing-text.ts';
import { uploadChecksumElements } from './multipart-checksums.ts';
import { person } from './person.ts';

const maxPage = 1000;

export async function listMultipartUploads(call: Call): Promise<void> {
  const { query } = call.request;
  const asked = integerParameter(query, { name: 'max-uploads', absent: maxPage, min: 0, max: maxInt32 });
  const maxUploads = Math.min(asked, maxPage);
  const encode = encodeListed(urlEncoding(query));
  const prefix = query.text('prefix');
  const delimiter = query.text('delimiter');
  const keyMarker = query.text('key-marker');
  const uploadIdMarker = keyMarker === undefined ? undefined : query.text('upload-id-marker');
  const page =
    maxUploads === 0
      ? { uploads: [], commonPrefixes: [], hasMore: false, nextKeyMarker: '', nextUploadIdMarker: '' }
      : await call.services.engine.uploads.list({
          repository: call.repository.id,
          bucket: call.bound?.bucket,
          prefix,
          delimiter,
          keyMarker,
          uploadIdMarker,
          amount: maxUploads,
        });
  let items = '';
  for (const upload of page.uploads)
    items +=
      `<Upload>${element('Key', encode(call.bound === undefined ? `${upload.branch}/${upload.path}` : upload.bucketKey))}${element('UploadId', upload.uploadId)}` +
      `${person('Initiator', upload.owner)}${person('Owner', upload.owner)}${element('StorageClass', upload.storageClass === '' ? 'STANDARD' : upload.storageClass)}` +
      `${element('Initiated', xmlTime(upload.creationDate))}${uploadChecksumElements(upload)}</Upload>`;
  for (const common of page.commonPrefixes)
    items += `<CommonPrefixes>${element('Prefix', encode(common))}</CommonPrefixes>`;
  call.reply.xml(
    200,
    document(
      'ListMultipartUploadsResult',
      element('Bucket', call.bucket) +
        element('KeyMarker', encode(keyMarker ?? '')) +
        element('UploadIdMarker', uploadIdMarker ?? '') +
        element('NextKeyMarker', page.hasMore ? encode(page.nextKeyMarker) : undefined) +
        element('NextUploadIdMarker', page.hasMore ? page.nextUploadIdMarker : undefined) +
        element('Prefix', prefix === undefined ? undefined : encode(prefix)) +
        element('Delimiter', delimiter === undefined ? undefined : encode(delimiter)) +
        element('EncodingType', urlEncoding(query) ? 'url' : undefined) +
        element('MaxUploads', maxUploads) +
        element('IsTruncated', page.hasMore) +
        items,
    ),
  );
}
