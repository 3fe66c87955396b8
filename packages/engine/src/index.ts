export * from './committed/context.ts';
export * from './committed/tree.ts';
export * from './errors.ts';
