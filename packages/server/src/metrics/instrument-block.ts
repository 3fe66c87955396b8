import type { BlockAdapter, BodySource, ObjectBody } from '@svc/block';
import type { BlockOperationMetrics, Metrics } from './metrics.ts';

type BlockMetrics = Pick<Metrics, 'block' | 'blockConcurrent'>;

/** Measures the calls of a block store that leave the process. */
export function instrumentBlock(adapter: BlockAdapter, metrics: BlockMetrics): BlockAdapter {
  const operations: BlockOperationMetrics | undefined =
    adapter.type === 's3' || adapter.type === 'gs' || adapter.type === 'azure'
      ? metrics.block[adapter.type]
      : undefined;
  const storageId = adapter.info.storageId;

  async function measure<T>(
    operation: string,
    call: () => Promise<T>,
    size?: (result: T) => number,
  ): Promise<T> {
    const concurrent = metrics.blockConcurrent.labels({ operation, blockstore_type: adapter.type });
    concurrent.inc();
    const started = performance.now();
    let error = 'true';
    try {
      const result = await call();
      error = 'false';
      const bytes = size?.(result);
      if (bytes !== undefined && bytes >= 0)
        operations?.size.observe({ operation, storage_id: storageId, error }, bytes);
      return result;
    } finally {
      const seconds = (performance.now() - started) / 1000;
      operations?.duration.observe({ operation, storage_id: storageId, error }, seconds);
      concurrent.dec();
    }
  }

  const bodySize = (body: BodySource) => () => (body instanceof Uint8Array ? body.length : body.size);
  const readSize = (body: ObjectBody): number => body.size;

  return {
    type: adapter.type,
    info: adapter.info,
    put: (pointer, body, options) =>
      measure('put', () => adapter.put(pointer, body, options), bodySize(body)),
    ...(adapter.putFile !== undefined && {
      putFile: (pointer, path) =>
        measure('put', () => adapter.putFile?.(pointer, path) ?? Promise.resolve(false)),
    }),
    ...(adapter.getFile !== undefined && {
      getFile: (pointer, path) =>
        measure('get', () => adapter.getFile?.(pointer, path) ?? Promise.resolve(false)),
    }),
    get: (pointer) => measure('get', () => adapter.get(pointer), readSize),
    // An answer at once comes from memory or the page cache: there is nothing to measure.
    ...(adapter.getAtOnce !== undefined && { getAtOnce: (pointer) => adapter.getAtOnce?.(pointer) }),
    ...(adapter.prefersRanges !== undefined && { prefersRanges: () => adapter.prefersRanges?.() ?? false }),
    getRange: (pointer, start, end) =>
      measure('get_range', () => adapter.getRange(pointer, start, end), readSize),
    exists: (pointer) => measure('exists', () => adapter.exists(pointer)),
    properties: (pointer, options) => measure('get_properties', () => adapter.properties(pointer, options)),
    delete: (pointer) => measure('remove', () => adapter.delete(pointer)),
    deleteMany: (pointers, options) => measure('remove_many', () => adapter.deleteMany(pointers, options)),
    copy: (source, destination) => measure('copy', () => adapter.copy(source, destination)),
    createMultipart: (pointer, options, beside) =>
      measure('create_multipart_upload', () => adapter.createMultipart(pointer, options, beside)),
    uploadPart: (upload, partNumber, body, accept) =>
      measure('upload_part', () => adapter.uploadPart(upload, partNumber, body, accept), bodySize(body)),
    uploadPartCopy: (upload, partNumber, source, range, accept) =>
      measure('upload_part_copy', () => adapter.uploadPartCopy(upload, partNumber, source, range, accept)),
    completeMultipart: (upload, parts) =>
      measure('complete_multipart_upload', () => adapter.completeMultipart(upload, parts)),
    abortMultipart: (upload) => measure('abort_multipart_upload', () => adapter.abortMultipart(upload)),
    ...(adapter.removeEmptyFolder !== undefined && {
      removeEmptyFolder: (pointer) => adapter.removeEmptyFolder?.(pointer) ?? Promise.resolve(),
    }),
    deletion: (namespace) => measure('get_deletion', () => adapter.deletion(namespace)),
    staleUploads: (namespace, before) => adapter.staleUploads(namespace, before),
    walk: (uri, options) => adapter.walk(uri, options),
    importSource: (uri) => adapter.importSource(uri),
    presign: (pointer, mode, options) => measure('presign', () => adapter.presign(pointer, mode, options)),
    presignPart: (upload, partNumber) =>
      measure('presign_part', () => adapter.presignPart(upload, partNumber)),
    region: (namespace) => measure('get_region', () => adapter.region(namespace)),
    validateNamespace: (namespace) => adapter.validateNamespace(namespace),
    validateAddress: (pointer) => adapter.validateAddress(pointer),
    absoluteUri: (pointer) => adapter.absoluteUri(pointer),
    canonicalUri: (uri) => adapter.canonicalUri(uri),
    spellings: (canonical) => adapter.spellings(canonical),
    ...(adapter.connectionsInUse !== undefined && { connectionsInUse: adapter.connectionsInUse }),
    close: () => adapter.close(),
  };
}
