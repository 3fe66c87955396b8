import type { MultipartUpload } from '../../adapter.ts';
import { resolveBucketPrefix } from '../../address.ts';
import type { S3Client } from './client.ts';
import { childText, requireXml } from '../../remote/xml.ts';

/** Uploads below a namespace that the bucket still holds parts of, begun before a time. */
export async function* staleUploads(
  client: S3Client,
  storageNamespace: string,
  before: Date,
): AsyncGenerator<MultipartUpload> {
  const { bucket, key } = resolveBucketPrefix('s3', storageNamespace);
  const prefix = key === '' ? '' : `${key}/`;
  let markers: [string, string][] | undefined = [];
  while (markers !== undefined) {
    const query: [string, string][] = [
      ['uploads', ''],
      ['prefix', prefix],
      ['encoding-type', 'url'],
      ...markers,
    ];
    const response = await client.send({ method: 'GET', bucket, query });
    const result = requireXml(await response.body.text(), 'ListMultipartUploadsResult');
    const encoded = childText(result, 'EncodingType') === 'url';
    const text = (value: string): string =>
      encoded ? decodeURIComponent(value.replaceAll('+', '%20')) : value;
    for (const child of result.children) {
      if (child.name !== 'Upload') continue;
      const name = text(childText(child, 'Key') ?? '');
      const uploadId = childText(child, 'UploadId') ?? '';
      const begun = Date.parse(childText(child, 'Initiated') ?? '');
      // A time that cannot be read says nothing; some servers do not honour the prefix.
      if (!(begun < before.getTime()) || uploadId === '' || !name.startsWith(prefix)) continue;
      const identifier = name.slice(prefix.length);
      yield { uploadId, pointer: { storageNamespace, identifier, identifierType: 'relative' } };
    }
    const next = text(childText(result, 'NextKeyMarker') ?? '');
    markers =
      childText(result, 'IsTruncated') === 'true' && next !== ''
        ? [
            ['key-marker', next],
            ['upload-id-marker', childText(result, 'NextUploadIdMarker') ?? ''],
          ]
        : undefined;
  }
}
