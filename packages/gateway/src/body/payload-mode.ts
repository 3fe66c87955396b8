import { invalidArgument } from '../errors/invalid-argument.ts';
import { S3Error } from '../errors/s3-error.ts';

/** How the body is framed and what the signature says about it. */
export type PayloadMode =
  | { readonly kind: 'plain'; readonly sha256: Buffer | undefined }
  | { readonly kind: 'chunked'; readonly signed: boolean; readonly trailer: boolean };

const plain: PayloadMode = { kind: 'plain', sha256: undefined };

/** The mode named by `x-amz-content-sha256`, which alone decides (`aws-chunked` in Content-Encoding does not). */
export function payloadModeOf(contentSha256: string | undefined): PayloadMode {
  if (contentSha256 === undefined || contentSha256 === '') return plain;
  if (/^[0-9a-f]{64}$/i.test(contentSha256))
    return { kind: 'plain', sha256: Buffer.from(contentSha256, 'hex') };
  const mode = contentSha256.toUpperCase();
  switch (mode) {
    case 'UNSIGNED-PAYLOAD':
      return plain;
    case 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD':
      return { kind: 'chunked', signed: true, trailer: false };
    case 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER':
      return { kind: 'chunked', signed: true, trailer: true };
    case 'STREAMING-UNSIGNED-PAYLOAD-TRAILER':
      return { kind: 'chunked', signed: false, trailer: true };
    default:
      if (mode.startsWith('STREAMING-AWS4-ECDSA-'))
        throw new S3Error('NotImplemented', 'SigV4A payload signatures are not implemented.');
      throw invalidArgument(
        'x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-UNSIGNED-PAYLOAD-TRAILER, ' +
          'STREAMING-AWS4-HMAC-SHA256-PAYLOAD, STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER, ' +
          'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD, STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER or a valid ' +
          'sha256 value.',
        'x-amz-content-sha256',
        contentSha256,
      );
  }
}
