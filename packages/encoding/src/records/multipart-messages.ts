import type { MessageOf, WithUnknownFields } from './fields.ts';
import { int32, integer, message, optionalTimestamp, stringMap, text, timestamp } from './fields.ts';

export const uploadMessage = message({
  uploadId: text(1),
  path: text(2),
  creationDate: timestamp(3),
  physicalAddress: text(4),
  metadata: stringMap(5),
  contentType: text(6),
  repository: text(1000),
  branch: text(1001),
  owner: text(1002),
  storeUploadId: text(1003),
  systemHeaders: stringMap(1004),
  storageClass: text(1005),
  completedEtag: text(1006),
  completedAt: optionalTimestamp(1007),
  /** The bucket and key it was begun with, where they are not the repository's own. */
  bucket: text(1008),
  bucketKey: text(1009),
  /** What the client asked for when it began the upload; empty when it said nothing. */
  checksumAlgorithm: text(1010),
  checksumType: text(1011),
});
export type UploadData = MessageOf<typeof uploadMessage> & WithUnknownFields;

export const uploadPartMessage = message({
  partNumber: int32(1),
  etag: text(2),
  size: integer(3),
  lastModified: timestamp(4),
  checksums: stringMap(5),
});
export type UploadPartData = MessageOf<typeof uploadPartMessage>;
