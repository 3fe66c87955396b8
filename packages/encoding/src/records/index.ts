export * from './string-map.ts';
export * from './timestamp.ts';
