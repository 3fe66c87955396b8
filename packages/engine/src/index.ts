// What the stores throw passes through the engine; a protocol's table knows it by these classes.
export { BlockError, type BlockErrorKind } from '@svc/block';
export { KvError, type KvErrorKind } from '@svc/kv';
export { openEngine, type OpenedEngine, type OpenEngineOptions } from './open-engine.ts';
export { type CommittedTreesOptions, createCommittedTrees } from './committed/committed-trees.ts';
export type { DifferenceNews, KnownDifference } from './committed/reading/known-differences.ts';
export type { CacheObserver } from './committed/store/local-cache.ts';
export type { TableDamage, TableKind } from './committed/store/table-damage.ts';
export * from './committed/context.ts';
export * from './committed/tree.ts';
export * from './engine.ts';
export * from './errors.ts';
export * from './face/index.ts';
export { reportToJson } from './gc/collector/report-json.ts';
export {
  addChecksum,
  addParts,
  checksumOf,
  digestBytes,
  isChecksumName,
  partsOf,
  type ChecksumName,
  type ChecksumType,
  type ObjectChecksum,
  type ObjectParts,
} from './objects/content-metadata.ts';
export { createDigest, loadDigests } from './objects/digests.ts';
export { standardClass, storageClassMap, storageClassOf } from './objects/storage-class.ts';
export { tagMap, tagsOf, type ObjectTag } from './objects/object-tags.ts';
export {
  isFieldValue,
  isReservedKey,
  storedHeaderKey,
  storedHeaderOf,
  storedHeaders,
  userMetadata,
  type StoredHeader,
} from './objects/reserved-metadata.ts';
export { resolvedCounts } from './merges/own-metadata.ts';
export { fillPage } from './listing/fill-page.ts';
export { isTimeRef } from './refs/parse-ref.ts';
export { planWalk } from './listing/key-range.ts';
export { PageBuilder } from './listing/object-page.ts';
export * from './verify/index.ts';
