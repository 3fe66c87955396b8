import type { WalkedObject } from '../../adapter.ts';
import type { S3Client } from './client.ts';
import { childText, requireXml } from '../../remote/xml.ts';

export interface BucketWalk {
  readonly bucket: string;
  readonly prefix: string;
  /** How much of each key relative keys leave out. */
  readonly baseLength: number;
  readonly after: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** Told of keys that are not UTF-8: no address can hold them. */
  readonly onSkipped: (key: string) => void;
}

/** Lists a bucket page by page (1000 keys), in the store's order, which is that of the keys' bytes. */
export async function* walkBucket(client: S3Client, walk: BucketWalk): AsyncGenerator<WalkedObject[]> {
  const { bucket, prefix, baseLength, after, signal, onSkipped } = walk;
  let token: string | undefined;
  do {
    const query: [string, string][] = [
      ['list-type', '2'],
      ['max-keys', '1000'],
      ['prefix', prefix],
      ['encoding-type', 'url'],
    ];
    if (token !== undefined) query.push(['continuation-token', token]);
    else if (after !== undefined) query.push(['start-after', after]);
    const response = await client.send({ method: 'GET', bucket, query, signal });
    const result = requireXml(await response.body.text(), 'ListBucketResult');
    const encoded = childText(result, 'EncodingType') === 'url';
    const page: WalkedObject[] = [];
    for (const child of result.children) {
      if (child.name !== 'Contents') continue;
      const text = childText(child, 'Key') ?? '';
      const key = encoded ? decodeKey(text) : text;
      if (key === undefined) {
        onSkipped(text);
        continue;
      }
      page.push({
        uri: `s3://${bucket}/${key}`,
        relativeKey: key.slice(baseLength),
        etag: (childText(child, 'ETag') ?? '').replaceAll('"', ''),
        size: Number(childText(child, 'Size')),
        lastModified: new Date(childText(child, 'LastModified') ?? 0),
      });
    }
    token =
      childText(result, 'IsTruncated') === 'true' ? childText(result, 'NextContinuationToken') : undefined;
    if (page.length > 0) yield page;
  } while (token !== undefined);
}

/** Undefined when the encoded bytes are not UTF-8. */
function decodeKey(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', '%20'));
  } catch {
    return undefined;
  }
}
