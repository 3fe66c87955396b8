export * from './config/index.ts';
export { configurationDocument } from './config/documentation.ts';
export { metricsDocument } from './metrics/documentation.ts';
