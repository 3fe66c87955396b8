export * from './cache-bus.ts';
export { lockLocalStore, type LocalStoreLock } from './drivers/local/lock.ts';
export { createMemStore, MemState } from './drivers/mem.ts';
export * from './errors.ts';
export * from './kv-iterator.ts';
export * from './lease.ts';
export * from './open-store.ts';
export * from './scan-secondary.ts';
export * from './store.ts';
