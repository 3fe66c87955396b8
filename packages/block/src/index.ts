export * from './adapter.ts';
export * from './errors.ts';
