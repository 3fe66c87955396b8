import type { Call } from '../call.ts';
import { S3Error } from '../errors/s3-error.ts';
import { document, escapeXml } from '../xml/write.ts';

export function headBucket(call: Call): void {
  call.reply.empty(200, { 'x-amz-bucket-region': call.services.region });
}

/** Repositories need a storage namespace, which S3 clients cannot give. */
export function createBucket(): never {
  throw new S3Error('BucketAlreadyExists');
}

/** Empty for `us-east-1`, as S3 says it. */
export function getBucketLocation(call: Call): void {
  const { region } = call.services;
  call.reply.xml(200, document('LocationConstraint', region === 'us-east-1' ? '' : escapeXml(region)));
}

export function getBucketVersioning(call: Call): void {
  call.reply.xml(200, document('VersioningConfiguration', ''));
}

export function notSupported(): never {
  throw new S3Error('ERRLakeFSNotSupported');
}

export function noSuchObject(): never {
  throw new S3Error('NoSuchKey');
}
