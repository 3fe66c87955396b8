import type { ObjectBody, ObjectProperties, PutOptions, PutResult } from '../../adapter.ts';
import type { BucketObject } from '../../address.ts';
import { bytesBody, smallObjectSize } from '../../body.ts';
import type { S3StoreConfig } from '../../config.ts';
import { BlockError } from '../../errors.ts';
import { dateOf, streamBody, unquote } from '../../remote/answers.ts';
import { connectionFailure } from '../../remote/connection.ts';
import { ifAbsentHeader, md5Header, md5Told } from './answers.ts';
import type { S3Client, S3Request } from './client.ts';
import { refusalError } from './errors.ts';
import type { RequestBody } from '../../remote/request-body.ts';

type WriteSettings = Pick<S3StoreConfig, 'serverSideEncryption' | 'serverSideEncryptionKmsKeyId' | 'acl'>;

interface OpenedObject {
  readonly body: ObjectBody;
  header(name: string): string | undefined;
}

type ReadRequest = S3Request & { readonly method: 'GET'; readonly query?: undefined };

const plainText = /^[ -~]+$/;

/** Calls about one object as a whole. */
export class ObjectCalls {
  readonly #client: S3Client;
  readonly #config: WriteSettings;

  constructor(client: S3Client, config: WriteSettings) {
    this.#client = client;
    this.#config = config;
  }

  async put({ bucket, key }: BucketObject, body: RequestBody, options: PutOptions): Promise<PutResult> {
    const response = await this.#answer({
      method: 'PUT',
      bucket,
      key,
      body,
      headers: { ...this.writeHeaders(options), ...ifAbsentHeader(options), ...md5Header(options) },
      signal: options.signal,
    });
    const etag = unquote(response.header('etag'));
    if (etag === '')
      throw new BlockError('write_failed', `s3://${bucket}/${key}: the store answered without an ETag`);
    return { etag, md5: md5Told(response), lastModified: dateOf(response.header('date')) };
  }

  writeHeaders(options: PutOptions): Record<string, string> {
    const headers: Record<string, string> = {};
    const { serverSideEncryption, serverSideEncryptionKmsKeyId, acl } = this.#config;
    if (acl) headers['x-amz-acl'] = acl;
    if (serverSideEncryption) headers['x-amz-server-side-encryption'] = serverSideEncryption;
    if (serverSideEncryptionKmsKeyId) {
      headers['x-amz-server-side-encryption-aws-kms-key-id'] = serverSideEncryptionKmsKeyId;
    }
    if (options.storageClass) headers['x-amz-storage-class'] = options.storageClass;
    // The entry keeps the type; the store is told only what can stand in a signed header.
    if (options.contentType && plainText.test(options.contentType)) {
      headers['content-type'] = options.contentType;
    }
    return headers;
  }

  async open(request: ReadRequest): Promise<ObjectBody> {
    return (await this.answer(request)).body;
  }

  /** An object with the head of the answer. */
  async answer(request: ReadRequest): Promise<OpenedObject> {
    const quick = await this.#client.sendLean(request);
    if ('body' in quick) {
      const wanted = request.headers?.['range'] === undefined ? 200 : 206;
      if (quick.status === wanted) return quick;
      quick.body.dispose();
    }
    const attempts = 'attempts' in quick ? quick.attempts : 0;
    const target = `s3://${request.bucket}/${request.key}`;
    for (let attempt = 1; ; attempt++) {
      const response = await this.#client.send(request, attempts);
      const size = Number(response.header('content-length'));
      if (request.headers?.['range'] !== undefined && response.status !== 206) {
        // Only an empty object answers a range as a whole.
        await response.body.dump();
        const code =
          size === 0 ? { status: 416, code: 'InvalidRange' } : { status: 501, code: 'NotImplemented' };
        throw refusalError({ ...code, message: 'the range was not honoured' }, 'read', target);
      }
      if (!Number.isSafeInteger(size)) {
        await response.body.dump();
        throw new BlockError('unavailable', `${target}: the store answered without a length`);
      }
      const header = (name: string): string | undefined => response.header(name);
      if (size > smallObjectSize) return { body: streamBody(response, size), header };
      try {
        return { body: bytesBody(Buffer.from(await response.body.arrayBuffer())), header };
      } catch (error) {
        const failure = connectionFailure(error);
        if (failure === undefined) throw error;
        if (attempt < 3) continue;
        throw new BlockError('unavailable', `${target}: the answer broke off: ${failure}`, { cause: error });
      }
    }
  }

  /** The head of an answer that says all. */
  async #answer(
    request: S3Request & { readonly method: 'HEAD' | 'PUT'; readonly query?: undefined },
  ): Promise<{ header(name: string): string | undefined }> {
    const quick = isOnePiece(request) ? await this.#client.sendLean(request) : { attempts: 0 };
    if ('body' in quick) return quick;
    const response = await this.#client.send(request, quick.attempts);
    await response.body.dump();
    return response;
  }

  async head({ bucket, key }: BucketObject): Promise<ObjectProperties> {
    const response = await this.#answer({ method: 'HEAD', bucket, key });
    return {
      size: Number(response.header('content-length') ?? 0),
      etag: unquote(response.header('etag')),
      lastModified: dateOf(response.header('last-modified')) ?? new Date(0),
      storageClass: response.header('x-amz-storage-class'),
    };
  }
}

function isOnePiece({ body, headers }: S3Request): boolean {
  if (body === undefined) return true;
  // A condition that the first attempt has made false must not be asked twice unseen.
  return body.kind === 'bytes' && body.chunks.length === 1 && headers?.['if-none-match'] === undefined;
}
