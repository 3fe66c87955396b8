import { Answer } from '../answer/answer.ts';
import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { byteRangeOf } from '../request/byte-range.ts';
import { bodyError, RequestError } from '../request/request-error.ts';
import { objectView } from '../views/object.ts';
import { addressRights } from './shared/address-rights.ts';
import { conditional, writeCondition } from './shared/upload.ts';

export function stagingHandlers({ engine, auth, installation }: ApiOptions): HandlersOf<'staging'> {
  const { objects, repositories } = engine;

  async function ensurePresignedMultipart(repository: string): Promise<void> {
    const { storageId } = await repositories.get(repository);
    const { storage, storages } = installation();
    const facts = storages.find((store) => store.storageId === storageId) ?? storage;
    if (facts?.preSignMultipartUpload !== true) {
      throw new RequestError(501, 'presign multipart upload API is not supported');
    }
  }

  return {
    async stageObject(call) {
      const { params, query, body } = call;
      const staged = await objects.stage({
        ...params,
        path: query.path,
        physicalAddress: body.physical_address,
        checksum: body.checksum,
        size: body.size_bytes,
        mtime: body.mtime,
        metadata: body.metadata,
        contentType: body.content_type,
        force: body.force,
        ...addressRights(auth, call),
      });
      return objectView(staged, { metadata: 'none' });
    },

    async getPhysicalAddress({ params, query }) {
      const address = await objects.getPhysicalAddress({
        ...params,
        path: query.path,
        presign: query.presign,
      });
      const { presigned } = address;
      return {
        physical_address: address.physicalAddress,
        presigned_url: presigned?.url ?? null,
        presigned_url_expiry:
          presigned === undefined ? undefined : Math.floor(presigned.expiry.getTime() / 1000),
      };
    },

    async linkPhysicalAddress(call) {
      const { params, query, headers, body } = call;
      const condition = writeCondition(headers);
      const linked = await conditional(condition, () =>
        objects.link({
          ...params,
          path: query.path,
          physicalAddress: body.staging.physical_address ?? '',
          checksum: body.checksum,
          size: body.size_bytes,
          mtime: body.mtime,
          metadata: body.user_metadata,
          contentType: body.content_type,
          force: body.force,
          ...condition,
          ...addressRights(auth, call),
        }),
      );
      return objectView(linked);
    },

    async createPresignMultipartUpload({ params, query }) {
      await ensurePresignedMultipart(params.repository);
      const parts = query.parts ?? 0;
      if (parts < 0 || parts > 10_000) throw new RequestError(400, 'parts can be between 0 and 10000');
      const upload = await objects.createPresignedMultipart({ ...params, path: query.path, parts });
      return {
        upload_id: upload.uploadId,
        physical_address: upload.physicalAddress,
        presigned_urls: parts === 0 ? undefined : upload.presignedUrls,
      };
    },

    async completePresignMultipartUpload({ params, query, body }) {
      await ensurePresignedMultipart(params.repository);
      if (body.parts.length === 0) throw new RequestError(400, 'parts are required');
      const completed = await objects.completePresignedMultipart({
        ...uploadOf(params, query.path, body.physical_address),
        parts: body.parts.map(({ part_number, etag }) => ({ partNumber: part_number, etag })),
        metadata: body.user_metadata,
        contentType: body.content_type,
      });
      return objectView(completed);
    },

    async abortPresignMultipartUpload({ params, query, body }) {
      await ensurePresignedMultipart(params.repository);
      await objects.abortPresignedMultipart(uploadOf(params, query.path, body.physical_address));
    },

    async uploadPart({ params, query, body }) {
      const { url } = await objects.presignMultipartPart({
        ...uploadOf(params, query.path, body.physical_address),
        partNumber: Number(params.partNumber),
      });
      return { presigned_url: url };
    },

    async uploadPartCopy({ params, query, body }) {
      const { repository, ref, path, range } = body.copy_source;
      const source = { repository, ref, path };
      const { etag } = await objects.copyMultipartPart({
        ...uploadOf(params, query.path, body.physical_address),
        partNumber: Number(params.partNumber),
        source,
        range: range === undefined ? undefined : byteRange(range, (await objects.stat(source)).size),
      });
      return new Answer(204, { etag });
    },
  };
}

function uploadOf(
  params: { readonly repository: string; readonly branch: string; readonly uploadId: string },
  path: string,
  physicalAddress: string,
) {
  if (physicalAddress === '') throw new RequestError(400, 'physical_address is required');
  const { repository, branch, uploadId } = params;
  return { repository, branch, uploadId, path, physicalAddress };
}

function byteRange(header: string, size: number): { start: number; end: number } {
  const range = byteRangeOf(header, size);
  if (typeof range === 'string') throw bodyError('field "copy_source.range": not a range of the source');
  return range;
}
