import type { BodyStream, CompletedPart, PutOptions, PutResult } from '../../adapter.ts';
import type { BucketObject } from '../../address.ts';
import { abortable, multipartEtag } from '../../body.ts';
import { BlockError } from '../../errors.ts';
import { longAnswerMs, unquote } from '../../remote/answers.ts';
import { copySource, ifAbsentHeader, md5Told, readResult } from './answers.ts';
import type { S3Client } from './client.ts';
import type { ObjectCalls } from './object-calls.ts';
import { bytesRequest, type RequestBody } from '../../remote/request-body.ts';
import { copyRanges, uploadInParts } from '../../remote/transfers.ts';
import { childText, escapeXml, requireXml } from '../../remote/xml.ts';

/** Objects that are written in parts. */
export class MultipartCalls {
  readonly #client: S3Client;
  readonly #objects: ObjectCalls;
  readonly #chunkSize: number;

  constructor(client: S3Client, objects: ObjectCalls, chunkSize: number) {
    this.#client = client;
    this.#objects = objects;
    this.#chunkSize = chunkSize;
  }

  async create({ bucket, key }: BucketObject, options: PutOptions): Promise<string> {
    const response = await this.#client.send({
      method: 'POST',
      bucket,
      key,
      query: [['uploads', '']],
      headers: this.#objects.writeHeaders(options),
      signal: options.signal,
    });
    const uploadId = childText(
      requireXml(await response.body.text(), 'InitiateMultipartUploadResult'),
      'UploadId',
    );
    if (!uploadId)
      throw new BlockError('write_failed', `s3://${bucket}/${key}: the store answered without an upload id`);
    return uploadId;
  }

  async sendPart(
    { bucket, key }: BucketObject,
    uploadId: string,
    partNumber: number,
    body: RequestBody,
    signal?: AbortSignal,
  ): Promise<{ readonly etag: string; readonly md5: string | undefined }> {
    const query = [
      ['partNumber', String(partNumber)],
      ['uploadId', uploadId],
    ] as const;
    const response = await this.#client.send({ method: 'PUT', bucket, key, query, body, signal });
    await response.body.dump();
    const etag = unquote(response.header('etag'));
    if (etag === '') {
      throw new BlockError(
        'write_failed',
        `part ${partNumber} of s3://${bucket}/${key}: the store answered without an ETag`,
      );
    }
    return { etag, md5: md5Told(response) };
  }

  async copyPart(
    to: BucketObject,
    uploadId: string,
    partNumber: number,
    from: BucketObject,
    range: { readonly start: number; readonly end: number } | undefined,
  ): Promise<string> {
    const response = await this.#client.send({
      method: 'PUT',
      ...to,
      query: [
        ['partNumber', String(partNumber)],
        ['uploadId', uploadId],
      ],
      headers: {
        'x-amz-copy-source': copySource(from),
        ...(range === undefined ? {} : { 'x-amz-copy-source-range': `bytes=${range.start}-${range.end}` }),
      },
      answerTimeoutMs: longAnswerMs,
    });
    return unquote(childText(await readResult(response, 'CopyPartResult', to), 'ETag'));
  }

  async complete(
    object: BucketObject,
    uploadId: string,
    parts: readonly CompletedPart[],
    options: PutOptions,
  ): Promise<{ readonly etag: string }> {
    const listed = parts
      .map(
        ({ partNumber, etag }) =>
          `<Part><PartNumber>${partNumber}</PartNumber><ETag>"${escapeXml(etag)}"</ETag></Part>`,
      )
      .join('');
    const body = Buffer.from(
      `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${listed}</CompleteMultipartUpload>`,
    );
    try {
      const response = await this.#client.send({
        method: 'POST',
        ...object,
        query: [['uploadId', uploadId]],
        headers: { 'content-type': 'application/xml', ...ifAbsentHeader(options) },
        body: bytesRequest(body),
        answerTimeoutMs: longAnswerMs,
        signal: options.signal,
      });
      return {
        etag: unquote(childText(await readResult(response, 'CompleteMultipartUploadResult', object), 'ETag')),
      };
    } catch (error) {
      // A first answer may have been lost on its way: then the upload is gone because it is complete.
      if (!(error instanceof BlockError && error.kind === 'upload_not_found')) throw error;
      const expected = multipartEtag(parts.map(({ etag }) => etag));
      // If even that cannot be found out, the first error stands.
      const found = await this.#objects.head(object).catch(() => undefined);
      if (found?.etag !== expected) throw error;
      return { etag: expected };
    }
  }

  async abort({ bucket, key }: BucketObject, uploadId: string): Promise<void> {
    try {
      const response = await this.#client.send({
        method: 'DELETE',
        bucket,
        key,
        query: [['uploadId', uploadId]],
      });
      await response.body.dump();
    } catch (error) {
      if (!(error instanceof BlockError && (error.kind === 'upload_not_found' || error.kind === 'not_found')))
        throw error;
    }
  }

  /** An object of unknown or large size; a small one is put at once. */
  async putInParts(object: BucketObject, body: BodyStream, options: PutOptions): Promise<PutResult> {
    const uploaded = await abortable(body, options.signal, () =>
      uploadInParts(
        body,
        this.#chunkSize,
        {
          start: () => this.create(object, options),
          uploadPart: async (uploadId, partNumber, part) => ({
            partNumber,
            etag: (await this.sendPart(object, uploadId, partNumber, part, options.signal)).etag,
          }),
          abort: (uploadId) => this.abort(object, uploadId),
        },
        options.signal,
      ),
    );
    if (uploaded.kind === 'small') return await this.#objects.put(object, uploaded.body, options);
    try {
      const { etag } = await this.complete(object, uploaded.uploadId, uploaded.parts, options);
      return { etag, lastModified: undefined };
    } catch (error) {
      // An upload that cannot be ended now is swept later; the first error stands.
      await this.abort(object, uploaded.uploadId).catch(() => undefined);
      throw error;
    }
  }

  async copyInParts(
    from: BucketObject,
    to: BucketObject,
    size: number,
    partSize: number,
    options: PutOptions,
  ): Promise<PutResult> {
    const uploadId = await this.create(to, options);
    try {
      const parts: CompletedPart[] = [];
      for (const range of copyRanges(size, partSize)) {
        const partNumber = parts.length + 1;
        parts.push({ partNumber, etag: await this.copyPart(to, uploadId, partNumber, from, range) });
      }
      const { etag } = await this.complete(to, uploadId, parts, {});
      return { etag, lastModified: undefined };
    } catch (error) {
      // An upload that cannot be ended now is swept later; the first error stands.
      await this.abort(to, uploadId).catch(() => undefined);
      throw error;
    }
  }
}
