export * from './config/index.ts';
export { configurationDocument } from './config/documentation.ts';
