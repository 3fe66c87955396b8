export { openS3Adapter } from './s3-adapter.ts';
