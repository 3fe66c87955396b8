import { Type } from 'typebox';
import { byteRange, int64, integer, nullableText, offFlag, stringMap, text } from './values.ts';

export const StagingLocation = Type.Object(
  {
    physical_address: Type.Optional(text),
    presigned_url: Type.Optional(nullableText),
    presigned_url_expiry: Type.Optional(int64),
  },
  { title: 'StagingLocation' },
);

export const StagingMetadata = Type.Object(
  {
    staging: StagingLocation,
    checksum: text,
    size_bytes: int64,
    user_metadata: Type.Optional(stringMap),
    content_type: Type.Optional(text),
    mtime: Type.Optional(int64),
    force: Type.Optional(offFlag),
  },
  { title: 'StagingMetadata' },
);

export const PresignMultipartUpload = Type.Object(
  {
    upload_id: text,
    physical_address: text,
    presigned_urls: Type.Optional(Type.Array(text)),
  },
  { title: 'PresignMultipartUpload' },
);

export const UploadPart = Type.Object(
  {
    part_number: integer,
    etag: text,
  },
  { title: 'UploadPart' },
);

export const UploadPartFrom = Type.Object(
  {
    physical_address: text,
  },
  { title: 'UploadPartFrom' },
);

export const CopyPartSource = Type.Object(
  {
    repository: text,
    ref: text,
    path: text,
    range: Type.Optional(byteRange),
  },
  { title: 'CopyPartSource' },
);

export const UploadPartCopyFrom = Type.Object(
  { ...UploadPartFrom.properties, copy_source: CopyPartSource },
  { title: 'UploadPartCopyFrom' },
);

export const UploadTo = Type.Object(
  {
    presigned_url: text,
  },
  { title: 'UploadTo' },
);

export const CompletePresignMultipartUpload = Type.Object(
  {
    physical_address: text,
    parts: Type.Array(UploadPart),
    user_metadata: Type.Optional(stringMap),
    content_type: Type.Optional(text),
  },
  { title: 'CompletePresignMultipartUpload' },
);

export const AbortPresignMultipartUpload = Type.Object(
  {
    physical_address: text,
  },
  { title: 'AbortPresignMultipartUpload' },
);

export const UpdateToken = Type.Object(
  {
    staging_token: text,
  },
  { title: 'UpdateToken' },
);
