import { S3Error } from '../errors/s3-error.ts';
import { headerText, type S3Request } from '../request/s3-request.ts';

/** Whoever asks for these must not believe that it was done. */
const refused =
  /^x-amz-(?:copy-source-)?server-side-encryption-(?:customer-|aws-kms-|context$|bucket-key-enabled$)|^x-amz-grant-|^x-amz-object-lock-/;

const harmlessAcls: ReadonlySet<string> = new Set(['private', 'bucket-owner-full-control']);

export function notHonoured(header: string): S3Error {
  return new S3Error('NotImplemented', undefined, { elements: [['Header', header]] });
}

/** Refuses a write that asks for encryption, access control or locks, none of which an object has here. */
export function refuseUnhonoured(request: S3Request): void {
  for (const [name, value] of request.headers) {
    if (value === '' || !name.startsWith('x-amz-')) continue;
    // `false` asks for nothing.
    if (refused.test(name) && value !== 'false' && value !== 'OFF') throw notHonoured(name);
  }
  const encryption = headerText(request, 'x-amz-server-side-encryption');
  if (encryption !== undefined && encryption !== 'AES256') throw notHonoured('x-amz-server-side-encryption');
  const acl = headerText(request, 'x-amz-acl');
  if (acl !== undefined && !harmlessAcls.has(acl)) throw notHonoured('x-amz-acl');
}
