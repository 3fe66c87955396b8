import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sigV4Encode } from '@svc/encoding';
import type { ObjectBody, PutOptions } from '../../adapter.ts';
import type { BucketObject } from '../../address.ts';
import type { S3Response } from './client.ts';
import { refusalError } from './errors.ts';
import { childText, requireXml, type XmlElement } from './xml.ts';

/** Copying and joining keep the store busy before it answers. */
export const longAnswerMs = 10 * 60_000;

export function streamBody(response: S3Response, size: number): ObjectBody {
  const { body } = response;
  return {
    size,
    bytes: undefined,
    stream: (): Readable => body,
    sendTo: (sink) => pipeline(body, sink),
    dispose(): void {
      // Destroying an unfinished body reports an abort that nobody waits for.
      body.on('error', () => undefined).destroy();
    },
  };
}

/** The result document of a call that may fail after its status line said 200. */
export async function readResult(
  response: S3Response,
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

export function copySource({ bucket, key }: BucketObject): string {
  return `${sigV4Encode(bucket, 'encode')}/${sigV4Encode(key, 'keep')}`;
}

export function unquote(etag: string | undefined): string {
  return etag?.replaceAll('"', '') ?? '';
}

export function dateOf(text: string | undefined): Date | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : new Date(time);
}
