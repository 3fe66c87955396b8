export { ApiError } from './api-error.ts';
export { createClient } from './client.ts';
export type { Client } from './client.ts';
export type { components, operations, paths } from './generated/api.ts';
export { listAll } from './list-all.ts';
export type { ListPage } from './list-all.ts';
export type { ObjectLocation, ObjectStats, UploadTarget } from './location.ts';
export type {
  Download,
  DownloadOptions,
  ObjectTransfer,
  UploadBody,
  UploadOptions,
} from './object-transfer.ts';
export type { PresignedUploadOptions } from './presigned-upload.ts';
export type { RetrySettings } from './retry.ts';
export type { ClientOptions, Credentials } from './transport.ts';
