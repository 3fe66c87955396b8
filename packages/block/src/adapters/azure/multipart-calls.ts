import { createHash, randomBytes } from 'node:crypto';
import type {
  AcceptPart,
  BodySource,
  BodyStream,
  CompletedPart,
  CompletedUpload,
  MultipartUpload,
  PutOptions,
  PutResult,
  UploadedPart,
} from '../../adapter.ts';
import { abortable, md5Hex, multipartEtag } from '../../body.ts';
import { BlockError } from '../../errors.ts';
import { dateOf } from '../../remote/answers.ts';
import { deleteAll } from '../../remote/batch-deletes.ts';
import { hashedBody } from '../../remote/hashed-body.ts';
import { bytesRequest, streamRequest, unitsOf, type RequestBody } from '../../remote/request-body.ts';
import { keyOfMarker, markerKey, partKey, partNumberOf, partPrefix } from '../../remote/side-objects.ts';
import { uploadInParts } from '../../remote/transfers.ts';
import type { BlobPlace } from './addresses.ts';
import { ifAbsentHeader, type BlobCalls, type BlobProperties } from './blob-calls.ts';
import type { AzureClient } from './client.ts';
import { listBlobs } from './list.ts';

const mebibyte = 1024 * 1024;
const maxBlockSize = 4000 * mebibyte;
const smallBlockSize = 8 * mebibyte;
const bufferUnit = mebibyte;

interface PartRecord {
  readonly etag: string;
  readonly size: number;
  readonly blocks: readonly string[];
}

/**
 * Blobs that are written in blocks. The service keeps blocks that belong to no blob yet under ids that we choose; which
 * of them are the parts of an upload stands in empty blobs beside it (`side-objects.ts`), written once a part is
 * accepted. Blocks that nobody commits are gone after a week.
 */
export class MultipartCalls {
  readonly #client: AzureClient;
  readonly #blobs: BlobCalls;
  readonly #maxBlockSize: number;

  constructor(client: AzureClient, blobs: BlobCalls, maxBlock = maxBlockSize) {
    this.#client = client;
    this.#blobs = blobs;
    this.#maxBlockSize = maxBlock;
  }

  async create(place: BlobPlace, options: PutOptions): Promise<string> {
    const uploadId = randomBytes(16).toString('hex');
    const marker = { ...place, key: markerKey(place.key) };
    const { storageClass = '', contentType, signal } = options;
    const metadata = { svcupload: uploadId, ...(storageClass === '' ? {} : { svctier: storageClass }) };
    await this.#blobs.put(marker, emptyBody, { contentType, signal }, metadata);
    return uploadId;
  }

  /** The marker of the upload, which must be there. */
  async #find(place: BlobPlace, uploadId: string): Promise<BlobProperties> {
    const marker = await this.#blobs.head({ ...place, key: markerKey(place.key) }).catch((error: unknown) => {
      if (error instanceof BlockError && error.kind === 'not_found') return undefined;
      throw error;
    });
    if (marker === undefined || marker.metadata('svcupload') !== uploadId) {
      throw new BlockError('upload_not_found', `multipart upload "${uploadId}" does not exist`);
    }
    return marker;
  }

  async uploadPart(
    place: BlobPlace,
    uploadId: string,
    partNumber: number,
    body: BodySource,
    accept: AcceptPart | undefined,
  ): Promise<UploadedPart> {
    await this.#find(place, uploadId);
    const nonce = randomBytes(8).toString('hex');
    const { count, ...part } = await this.#sendBlocks(place, partNumber, nonce, body);
    await accept?.(part);
    const record = { ...place, key: partKey(place.key, partNumber) };
    await this.#blobs.put(
      record,
      emptyBody,
      {},
      {
        svcupload: uploadId,
        svcetag: part.etag,
        svcsize: String(part.size),
        svcblocks: `${nonce}${count}`,
      },
    );
    return part;
  }

  /** One block where its length is known and allowed, else as many as it takes. */
  async #sendBlocks(
    place: BlobPlace,
    partNumber: number,
    nonce: string,
    body: BodySource,
  ): Promise<UploadedPart & { readonly count: number }> {
    if (body instanceof Uint8Array) {
      await this.#putBlock(place, blockId(partNumber, nonce, 0), bytesRequest(body));
      return { etag: md5Hex(body), size: body.length, count: 1 };
    }
    const { stream, md5 } = hashedBody(body);
    if (body.size > smallBlockSize && body.size <= this.#maxBlockSize) {
      await this.#putBlock(place, blockId(partNumber, nonce, 0), streamRequest(stream, body.size));
      return { etag: await md5(), size: body.size, count: 1 };
    }
    let [count, size] = [0, 0];
    const unit = body.size < 0 ? smallBlockSize : Math.min(64 * mebibyte, this.#maxBlockSize);
    for await (const block of unitsOf(stream, unit, body.size)) {
      await this.#putBlock(place, blockId(partNumber, nonce, count), bytesRequest(block));
      count += 1;
      size += block.length;
    }
    return { etag: await md5(), size, count };
  }

  async #putBlock(place: BlobPlace, id: string, body: RequestBody, signal?: AbortSignal): Promise<void> {
    // The service takes no empty block: an empty part is a part of no blocks.
    if (body.size === 0) return;
    const query = [
      ['comp', 'block'],
      ['blockid', id],
    ] as const;
    const response = await this.#client.send({ method: 'PUT', place, query, body, signal });
    await response.body.dump();
  }

  async complete(
    place: BlobPlace,
    uploadId: string,
    parts: readonly CompletedPart[],
  ): Promise<CompletedUpload> {
    const marker = await this.#find(place, uploadId);
    const records = await this.#records(place, uploadId);
    let size = 0;
    const blocks = parts.flatMap(({ partNumber, etag }) => {
      const record = records.get(partNumber);
      if (record?.etag !== etag) {
        throw new BlockError('invalid_part', `part ${partNumber} with etag "${etag}" was not uploaded`);
      }
      size += record.size;
      return record.blocks;
    });
    const { lastModified } = await this.#commit(place, blocks, {
      contentType: marker.contentType,
      storageClass: marker.metadata('svctier'),
    });
    // The object is there: what cannot be tidied up now is swept later.
    await this.abort(place, uploadId).catch(() => undefined);
    return { etag: multipartEtag(parts.map(({ etag }) => etag)), size, lastModified };
  }

  async #commit(
    place: BlobPlace,
    blocks: readonly string[],
    options: PutOptions,
    md5?: Buffer,
  ): Promise<PutResult> {
    const list = blocks.map((id) => `<Latest>${id}</Latest>`).join('');
    const response = await this.#client.send({
      method: 'PUT',
      place,
      query: [['comp', 'blocklist']],
      headers: {
        'content-type': 'application/xml',
        ...this.#blobs.writeHeaders(options),
        ...ifAbsentHeader(options),
        ...(md5 === undefined ? {} : { 'x-ms-blob-content-md5': md5.toString('base64') }),
      },
      body: bytesRequest(Buffer.from(`<?xml version="1.0" encoding="utf-8"?><BlockList>${list}</BlockList>`)),
      answerTimeoutMs: this.#client.tryTimeoutMs,
      signal: options.signal,
    });
    await response.body.dump();
    return { etag: undefined, lastModified: dateOf(response.header('last-modified')) };
  }

  async #records(place: BlobPlace, uploadId: string): Promise<Map<number, PartRecord>> {
    const records = new Map<number, PartRecord>();
    for await (const page of listBlobs(this.#client, { ...place, key: partPrefix(place.key) })) {
      for (const { key, metadata } of page) {
        const partNumber = partNumberOf(place.key, key);
        if (partNumber === undefined || metadata('svcupload') !== uploadId) continue;
        const blocks = metadata('svcblocks') ?? '';
        const [nonce, count] = [blocks.slice(0, 16), Number(blocks.slice(16))];
        const size = Number(metadata('svcsize'));
        records.set(partNumber, {
          etag: metadata('svcetag') ?? '',
          size,
          blocks: size === 0 ? [] : Array.from({ length: count }, (_, i) => blockId(partNumber, nonce, i)),
        });
      }
    }
    return records;
  }

  /** Idempotent. The marker goes last: while it is there, the upload can be found and ended again. */
  async abort(place: BlobPlace, uploadId: string): Promise<void> {
    try {
      await this.#find(place, uploadId);
    } catch (error) {
      if (error instanceof BlockError && error.kind === 'upload_not_found') return;
      throw error;
    }
    const records = await this.#records(place, uploadId);
    const parts = [...records.keys()].map((number) => ({ ...place, key: partKey(place.key, number) }));
    const [failure] = await deleteAll(this.#blobs, parts);
    if (failure !== undefined) throw failure.error;
    await this.#blobs.delete({ ...place, key: markerKey(place.key) });
  }

  async *stale(storageNamespace: string, before: Date): AsyncGenerator<MultipartUpload> {
    const place = this.#client.addresses.resolvePrefix(storageNamespace);
    const prefix = place.key === '' ? '' : `${place.key}/`;
    for await (const page of listBlobs(this.#client, { ...place, key: prefix })) {
      for (const { key: name, lastModified, metadata } of page) {
        const [key, uploadId] = [keyOfMarker(name), metadata('svcupload')];
        if (key === undefined || uploadId === undefined || lastModified >= before) continue;
        const identifier = key.slice(prefix.length);
        yield { uploadId, pointer: { storageNamespace, identifier, identifierType: 'relative' } };
      }
    }
  }

  /** A blob of unknown or very large size; a small one is put at once. */
  async putInBlocks(place: BlobPlace, body: BodyStream, options: PutOptions): Promise<PutResult> {
    const hash = createHash('md5');
    const nonce = randomBytes(8).toString('hex');
    const uploaded = await abortable(body, options.signal, () =>
      uploadInParts(
        body,
        bufferUnit,
        {
          start: () => Promise.resolve(nonce),
          uploadPart: async (_, partNumber, part) => {
            if (part.kind === 'bytes') for (const chunk of part.chunks) hash.update(chunk);
            const etag = blockId(partNumber, nonce, 0);
            await this.#putBlock(place, etag, part, options.signal);
            return { partNumber, etag };
          },
          abort: () => Promise.resolve(),
        },
        options.signal,
      ),
    );
    if (uploaded.kind === 'small') return await this.#blobs.put(place, uploaded.body, options);
    const md5 = hash.digest();
    const blocks = uploaded.parts.map(({ etag }) => etag);
    const { lastModified } = await this.#commit(place, blocks, options, md5).catch((error: unknown) => {
      if (!(error instanceof BlockError && error.kind === 'invalid_part')) throw error;
      // Another writer of the same name has committed first, which drops what was not committed by then.
      throw new BlockError('unavailable', `another write to the same address was faster: ${error.message}`);
    });
    return { etag: md5.toString('hex'), lastModified };
  }
}

const emptyBody = bytesRequest(Buffer.alloc(0));

/** All ids of one blob must have the same length. */
function blockId(partNumber: number, nonce: string, index: number): string {
  const [number, rest] = [String(partNumber).padStart(5, '0'), String(index).padStart(5, '0')];
  return Buffer.from(`${number}-${nonce}-${rest}`).toString('base64');
}
