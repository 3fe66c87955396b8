import { randomBytes } from 'node:crypto';
import type {
  CompletedPart,
  CompletedUpload,
  MultipartUpload,
  PutOptions,
  UploadedPart,
} from '../../adapter.ts';
import { resolveBucketPrefix, type BucketObject } from '../../address.ts';
import { multipartEtag } from '../../body.ts';
import { BlockError } from '../../errors.ts';
import { longAnswerMs } from '../../remote/answers.ts';
import { deleteAll } from '../../remote/batch-deletes.ts';
import { inParallel } from '../../remote/in-parallel.ts';
import { bytesRequest } from '../../remote/request-body.ts';
import { keyOfMarker, markerKey, partKey, partNumberOf, partPrefix } from '../../remote/side-objects.ts';
import { objectPath, type GsClient } from './client.ts';
import { listObjects } from './list.ts';
import { propertiesOf, type GsObject, type ObjectCalls } from './object-calls.ts';

/** One call joins no more. */
const composeWidth = 32;
const callsAtOnce = 16;
/** Joined parts that are joined again are numbered above every part. */
const firstJoined = 10_001;

/** Objects that are written in parts: each part is an object of its own, joined by the service in the end. */
export class MultipartCalls {
  readonly #client: GsClient;
  readonly #objects: ObjectCalls;

  constructor(client: GsClient, objects: ObjectCalls) {
    this.#client = client;
    this.#objects = objects;
  }

  async create(target: BucketObject, options: PutOptions): Promise<string> {
    const uploadId = randomBytes(16).toString('hex');
    const { storageClass, contentType, signal } = options;
    const metadata = { svcupload: uploadId, ...(storageClass ? { svcclass: storageClass } : {}) };
    const marker = { ...target, key: markerKey(target.key) };
    await this.#objects.putBytes(marker, bytesRequest(Buffer.alloc(0)), { contentType, signal, metadata });
    return uploadId;
  }

  /** The marker of the upload, which must be there. */
  async find(target: BucketObject, uploadId: string): Promise<GsObject> {
    const marker = await this.#objects
      .head({ ...target, key: markerKey(target.key) })
      .catch((error: unknown) => {
        if (error instanceof BlockError && error.kind === 'not_found') return undefined;
        throw error;
      });
    if (marker?.metadata?.['svcupload'] !== uploadId) {
      throw new BlockError('upload_not_found', `multipart upload "${uploadId}" does not exist`);
    }
    return marker;
  }

  async complete(
    target: BucketObject,
    uploadId: string,
    parts: readonly CompletedPart[],
  ): Promise<CompletedUpload> {
    const marker = await this.find(target, uploadId);
    const stored = await this.#parts(target);
    const names = parts.map(({ partNumber, etag }) => {
      if (stored.get(partNumber) !== etag) {
        throw new BlockError('invalid_part', `part ${partNumber} with etag "${etag}" was not uploaded`);
      }
      return partKey(target.key, partNumber);
    });
    const joined = await this.#join(target, names, {
      contentType: marker.contentType,
      storageClass: marker.metadata?.['svcclass'],
    });
    // The object is there: what cannot be tidied up now is swept later.
    await this.abort(target, uploadId).catch(() => undefined);
    const { size, lastModified } = propertiesOf(joined);
    return { etag: multipartEtag(parts.map(({ etag }) => etag)), size, lastModified };
  }

  /** A tree of joins, as wide as one call may be. */
  async #join(target: BucketObject, names: readonly string[], options: PutOptions): Promise<GsObject> {
    let level = names;
    let next = firstJoined;
    while (level.length > composeWidth) {
      const groups: { readonly sources: readonly string[]; readonly into: string }[] = [];
      for (let start = 0; start < level.length; start += composeWidth) {
        groups.push({ sources: level.slice(start, start + composeWidth), into: partKey(target.key, next) });
        next += 1;
      }
      await inParallel(callsAtOnce, groups, async ({ sources, into }) => {
        await this.#compose({ ...target, key: into }, sources, {});
      });
      level = groups.map(({ into }) => into);
    }
    return await this.#compose(target, level, options);
  }

  async #compose(target: BucketObject, sources: readonly string[], options: PutOptions): Promise<GsObject> {
    const { encryption, kmsKey } = this.#client;
    const answer = await this.#client.send({
      method: 'POST',
      target,
      path: `${objectPath(target)}/compose`,
      query: kmsKey === undefined ? [] : [['kmsKeyName', kmsKey]],
      headers: { 'content-type': 'application/json', ...encryption },
      body: bytesRequest(
        Buffer.from(
          JSON.stringify({
            sourceObjects: sources.map((name) => ({ name })),
            destination: this.#objects.describe(options),
          }),
        ),
      ),
      access: 'write',
      answerTimeoutMs: longAnswerMs,
    });
    return (await answer.body.json()) as GsObject;
  }

  /** The MD5 of each part that is there, by number. */
  async #parts(target: BucketObject): Promise<Map<number, string>> {
    const parts = new Map<number, string>();
    const hidden: { readonly partNumber: number; readonly key: string }[] = [];
    for await (const page of listObjects(this.#client, { ...target, key: partPrefix(target.key) })) {
      for (const { name, md5Hash } of page) {
        const partNumber = partNumberOf(target.key, name);
        if (partNumber === undefined || partNumber >= firstJoined) continue;
        if (md5Hash) parts.set(partNumber, md5Of(md5Hash));
        else hidden.push({ partNumber, key: name });
      }
    }
    // A listing does not tell the MD5 of what is encrypted with a customer's key.
    await inParallel(callsAtOnce, hidden, async ({ partNumber, key }) => {
      const { md5Hash } = await this.#objects.head({ ...target, key });
      if (md5Hash) parts.set(partNumber, md5Of(md5Hash));
    });
    return parts;
  }

  /** Idempotent. The marker goes last: while it is there, the upload can be found and ended again. */
  async abort(target: BucketObject, uploadId: string): Promise<void> {
    try {
      await this.find(target, uploadId);
    } catch (error) {
      if (error instanceof BlockError && error.kind === 'upload_not_found') return;
      throw error;
    }
    for await (const page of listObjects(this.#client, { ...target, key: partPrefix(target.key) })) {
      const parts = page
        .filter(({ name }) => partNumberOf(target.key, name) !== undefined)
        .map(({ name }) => ({ ...target, key: name }));
      const [failure] = await deleteAll(this.#objects, parts);
      if (failure !== undefined) throw failure.error;
    }
    await this.#objects.delete({ ...target, key: markerKey(target.key) });
  }

  async *stale(storageNamespace: string, before: Date): AsyncGenerator<MultipartUpload> {
    const { bucket, key: path } = resolveBucketPrefix('gs', storageNamespace);
    const prefix = path === '' ? '' : `${path}/`;
    for await (const page of listObjects(this.#client, { bucket, key: prefix })) {
      for (const object of page) {
        const [key, uploadId] = [keyOfMarker(object.name), object.metadata?.['svcupload']];
        if (key === undefined || uploadId === undefined) continue;
        if (propertiesOf(object).lastModified >= before) continue;
        const identifier = key.slice(prefix.length);
        yield { uploadId, pointer: { storageNamespace, identifier, identifierType: 'relative' } };
      }
    }
  }
}

/** What a stored part is to its uploader. */
export function uploadedPart({ md5Hash = '', size = '0' }: GsObject): UploadedPart {
  return { etag: md5Of(md5Hash), size: Number(size) };
}

function md5Of(base64: string): string {
  return Buffer.from(base64, 'base64').toString('hex');
}
