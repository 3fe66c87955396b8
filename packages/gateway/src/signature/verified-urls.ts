import type { KeyObject } from 'node:crypto';
import type { Query } from '../request/query.ts';
import type { S3Request } from '../request/s3-request.ts';
import type { V4Signature } from './sigv4.ts';

interface VerifiedUrl {
  readonly method: string;
  readonly host: string;
  readonly rawPath: string;
  readonly key: KeyObject;
}

/**
 * Presigned URLs whose signature was right. Readers of columnar files ask for many ranges of one URL. If the signature
 * covers only method, host and target, it is computed no more than twice. Expiry and the key's existence are checked
 * every time. A URL is kept as long as its query is.
 */
export class VerifiedUrls {
  readonly #urls = new WeakMap<Query, VerifiedUrl>();

  has(request: S3Request, signature: V4Signature, key: KeyObject): boolean {
    if (!isKept(request, signature)) return false;
    const known = this.#urls.get(request.query);
    return (
      known !== undefined &&
      known.key === key &&
      known.method === request.method &&
      known.rawPath === request.rawPath &&
      known.host === hostOf(request)
    );
  }

  add(request: S3Request, signature: V4Signature, key: KeyObject): void {
    if (!isKept(request, signature)) return;
    const { method, rawPath, query } = request;
    this.#urls.set(query, { method, host: hostOf(request), rawPath, key });
  }
}

function isKept({ query }: S3Request, { presigned, signedHeaders }: V4Signature): boolean {
  return query.isKept && presigned && signedHeaders === 'host';
}

function hostOf({ headers }: S3Request): string {
  return headers.get('host') ?? '';
}
