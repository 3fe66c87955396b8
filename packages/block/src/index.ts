export * from './adapter.ts';
export { isFullAddress } from './address.ts';
export * from './block-stores.ts';
export { bytesBody, smallObjectSize } from './body.ts';
export type * from './config.ts';
export * from './errors.ts';
export { createMemAdapter } from './adapters/mem.ts';
