export { type CommittedTreesOptions, createCommittedTrees } from './committed/committed-trees.ts';
export type { CacheObserver } from './committed/local-cache.ts';
export * from './committed/context.ts';
export { Listing } from './committed/listing.ts';
export * from './committed/tree.ts';
export * from './engine.ts';
export * from './errors.ts';
export * from './face/index.ts';
