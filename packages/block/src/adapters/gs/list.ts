import { sigV4Encode } from '@svc/encoding';
import type { BucketObject } from '../../address.ts';
import type { GsClient } from './client.ts';
import type { GsObject } from './object-calls.ts';

const fields = 'nextPageToken,items(name,size,md5Hash,etag,updated,metadata,customerEncryption)';

/** The objects below a prefix page by page (1000), in the service's order, which is that of the keys' bytes. */
export async function* listObjects(
  client: GsClient,
  { bucket, key: prefix }: BucketObject,
  from?: string,
  signal?: AbortSignal,
): AsyncGenerator<GsObject[]> {
  let token: string | undefined;
  do {
    const query: [string, string][] = [
      ['maxResults', '1000'],
      ['fields', fields],
    ];
    if (prefix !== '') query.push(['prefix', prefix]);
    if (from !== undefined) query.push(['startOffset', from]);
    if (token !== undefined) query.push(['pageToken', token]);
    const response = await client.send({
      method: 'GET',
      target: { bucket, key: prefix },
      path: `/storage/v1/b/${sigV4Encode(bucket, 'encode')}/o`,
      query,
      access: 'read',
      signal,
    });
    const answer = (await response.body.json()) as { items?: GsObject[]; nextPageToken?: string };
    token = answer.nextPageToken || undefined;
    if (answer.items !== undefined && answer.items.length > 0) yield answer.items;
  } while (token !== undefined);
}
