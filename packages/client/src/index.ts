export { decode, expectStatus } from './answers.ts';
export { createCalls } from './calls.ts';
export type { Calls } from './calls.ts';
export { createClient } from './client.ts';
export type { Client, ClientOptions } from './client.ts';
export { ApiError, ClientError, ConnectionError } from './errors.ts';
export { answerOfFetch, sendByFetch } from './fetch-sender.ts';
export type { FetchPayload, FetchStream } from './fetch-sender.ts';
export type { components, operations, paths } from './generated/api.ts';
export { policyActions } from './generated/policy-actions.ts';
export { listAll } from './list-all.ts';
export type { ListPage } from './list-all.ts';
export type { ObjectLocation, ObjectStats, UploadTarget } from './location.ts';
export type {
  Download,
  ObjectTransfer,
  PresignedUploadOptions,
  UploadBody,
  UploadOptions,
} from './object-transfer.ts';
export { openObject } from './open-object.ts';
export type { OpenOptions } from './open-object.ts';
export { forEachParallel } from './parallel.ts';
export { uploadPresigned } from './presigned-upload.ts';
export type { PresignedUploadRequest, Source } from './presigned-upload.ts';
export type { RetrySettings } from './retry.ts';
export type { Answer, Sender, SendRequest } from './sender.ts';
export { endsSoon, expiryOf } from './signed-url.ts';
export { apiUrlOf, createTransport } from './transport.ts';
export type { ApiCall, ConnectionOptions, Credentials, StoreRequest, Transport } from './transport.ts';
export { isPlainMd5, uploadObject, uploadScratch } from './upload.ts';
export type { Piece, ResolutionObject, UploadRequest, UploadSettings } from './upload.ts';
