export * from './cache-bus.ts';
export * from './errors.ts';
export * from './store.ts';
