import { unquote } from '../../remote/answers.ts';
import { sigV4Encode } from '@svc/encoding';
import type { PutOptions } from '../../adapter.ts';
import type { BucketObject } from '../../address.ts';
import type { StoreResponse } from '../../remote/connection.ts';
import { refusalError } from './errors.ts';
import { childText, requireXml, type XmlElement } from '../../remote/xml.ts';

/** The result document of a call that may fail after its status line said 200. */
export async function readResult(
  response: StoreResponse,
  name: string,
  { bucket, key }: BucketObject,
): Promise<XmlElement> {
  const text = await response.body.text();
  if (!text.includes('<Error>') && !text.includes(':Error>')) return requireXml(text, name);
  const error = requireXml(text, 'Error');
  const code = childText(error, 'Code') ?? '';
  const status = code === 'InternalError' ? 500 : 400;
  throw refusalError(
    { status, code, message: childText(error, 'Message') ?? '' },
    'write',
    `s3://${bucket}/${key}`,
  );
}

export function ifAbsentHeader(options: PutOptions): Record<string, string> {
  return options.ifAbsent === true ? { 'if-none-match': '*' } : {};
}

/** The store refuses a body that reaches it changed. */
export function md5Header({ md5 }: PutOptions): Record<string, string> {
  return md5 === undefined ? {} : { 'content-md5': Buffer.from(md5).toString('base64') };
}

export function copySource({ bucket, key }: BucketObject): string {
  return `${sigV4Encode(bucket, 'encode')}/${sigV4Encode(key, 'keep')}`;
}

/** Lower-case MD5 in hex: what the ETag of one request's body is, unless a key of KMS or of the client encrypted it. */
export function md5Told(answer: { header(name: string): string | undefined }): string | undefined {
  const etag = unquote(answer.header('etag'));
  const isKms = answer.header('x-amz-server-side-encryption')?.startsWith('aws:kms') === true;
  const isOfClient = answer.header('x-amz-server-side-encryption-customer-algorithm') !== undefined;
  return isKms || isOfClient || !/^[0-9a-f]{32}$/.test(etag) ? undefined : etag;
}
