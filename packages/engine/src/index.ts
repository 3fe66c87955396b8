export * from './committed/context.ts';
export * from './committed/tree.ts';
export * from './engine.ts';
export * from './errors.ts';
export * from './face/index.ts';
