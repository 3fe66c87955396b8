import type { KeyObject } from 'node:crypto';
import type { S3Request } from '../request/s3-request.ts';
import type { V4Signature } from './sigv4.ts';

const longest = 2048;

/**
 * Presigned URLs whose signature was right. Readers of columnar files ask for range after range of one URL, and where
 * its signature covers method, host and target alone, it need not be computed for each. Whether the URL has expired and
 * its key still exists is asked every time.
 */
export class VerifiedUrls {
  readonly #limit: number;
  readonly #keys = new Map<string, KeyObject>();

  constructor(limit = 1000) {
    this.#limit = limit;
  }

  has(request: S3Request, signature: V4Signature, key: KeyObject): boolean {
    return coversUrlAlone(signature) && this.#keys.get(nameOf(request)) === key;
  }

  add(request: S3Request, signature: V4Signature, key: KeyObject): void {
    const name = nameOf(request);
    if (!coversUrlAlone(signature) || name.length > longest) return;
    if (this.#keys.size >= this.#limit) this.#keys.clear();
    this.#keys.set(name, key);
  }
}

function coversUrlAlone({ presigned, signedHeaders }: V4Signature): boolean {
  return presigned && signedHeaders === 'host';
}

function nameOf({ method, headers, rawPath, rawQuery }: S3Request): string {
  return `${method} ${headers.get('host') ?? ''}\n${rawPath}?${rawQuery}`;
}
