import { createHash } from 'node:crypto';
import { encodeQuery, sigV4Encode } from '@svc/encoding';
import type { GsSigner } from './credentials.ts';

export interface SignedUrl {
  readonly method: 'GET' | 'PUT';
  readonly endpoint: string;
  readonly bucket: string;
  readonly key: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly now: Date;
  readonly expiresSeconds: number;
}

const algorithm = 'GOOG4-RSA-SHA256';

/** A V4 signed URL. */
export async function signUrl(url: SignedUrl, signer: GsSigner): Promise<string> {
  const { origin, host, pathname } = new URL(url.endpoint);
  const time = `${url.now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  const scope = `${time.slice(0, 8)}/auto/storage/goog4_request`;
  const path = `${pathname.replace(/\/+$/, '')}/${sigV4Encode(url.bucket, 'encode')}/${sigV4Encode(url.key, 'keep')}`;
  const query = encodeQuery([
    ...url.query,
    ['X-Goog-Algorithm', algorithm],
    ['X-Goog-Credential', `${await signer.email()}/${scope}`],
    ['X-Goog-Date', time],
    ['X-Goog-Expires', String(url.expiresSeconds)],
    ['X-Goog-SignedHeaders', 'host'],
  ]);
  const canonical = [url.method, path, query, `host:${host}`, '', 'host', 'UNSIGNED-PAYLOAD'].join('\n');
  const text = [algorithm, time, scope, createHash('sha256').update(canonical).digest('hex')].join('\n');
  const signature = (await signer.sign(text)).toString('hex');
  return `${origin}${path}?${query}&X-Goog-Signature=${signature}`;
}
