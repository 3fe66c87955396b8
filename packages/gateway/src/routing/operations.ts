import { and, arn, one, soft, type Requirement } from '@svc/auth';
import { S3Error } from '../errors/s3-error.ts';
import { abortMultipartUpload } from '../operations/abort-multipart-upload.ts';
import {
  createBucket,
  getBucketLocation,
  getBucketVersioning,
  headBucket,
  noSuchObject,
  notSupported,
} from '../operations/bucket-properties.ts';
import { completeMultipartUpload } from '../operations/complete-multipart-upload.ts';
import { copyObject } from '../operations/copy-object.ts';
import { createMultipartUpload } from '../operations/create-multipart-upload.ts';
import { deleteObject } from '../operations/delete-object.ts';
import { deleteObjects } from '../operations/delete-objects.ts';
import { getObject } from '../operations/get-object.ts';
import { getObjectAttributes } from '../operations/get-object-attributes.ts';
import { headObject } from '../operations/head-object.ts';
import { listBuckets } from '../operations/list-buckets.ts';
import { listMultipartUploads } from '../operations/list-multipart-uploads.ts';
import { listObjects } from '../operations/list-objects.ts';
import { listParts } from '../operations/list-parts.ts';
import { deleteObjectTagging, getObjectTagging, putObjectTagging } from '../operations/object-tagging.ts';
import { putBranchMarker } from '../operations/put-branch-marker.ts';
import { putObject } from '../operations/put-object.ts';
import { uploadPartCopy } from '../operations/upload-part-copy.ts';
import { uploadPart } from '../operations/upload-part.ts';
import { s3Operation, type RequirementInput, type S3Operation } from './s3-operation.ts';

const onRepository =
  (action: string) =>
  ({ repository }: RequirementInput): Requirement =>
    one(action, arn.repository(repository));

const onObject =
  (action: string) =>
  ({ repository, path }: RequirementInput): Requirement =>
    one(action, arn.object(repository, path));

const onCopy = (input: RequirementInput): Requirement => {
  const write = onObject('fs:WriteObject')(input);
  const { copySource } = input;
  // The operation refuses such a source, but only to those who may write here at all.
  if (copySource === undefined || copySource instanceof S3Error) return write;
  return and(write, one('fs:ReadObject', arn.object(copySource.repository, copySource.path)));
};

const onListing = ({ request, repository, isBound }: RequirementInput): Requirement => {
  const prefix = request.query.get('prefix') ?? '';
  const resource = arn.repository(repository);
  if (isBound || request.query.get('delimiter') !== '/') return one('fs:ListObjects', resource);
  if (prefix === '') return one('fs:ListBranches', resource);
  return prefix.includes('/')
    ? one('fs:ListObjects', resource)
    : and(one('fs:ListObjects', resource), soft('fs:ListBranches', resource));
};

/** Every operation with what sets it apart. */
export const operations = {
  listBuckets: s3Operation({
    id: 'list_buckets',
    event: 'list_repos',
    intent: 'read',
    requires: () => one('fs:ListRepositories', arn.all),
    on: 'service',
    run: listBuckets,
  }),
  headBucket: s3Operation({
    id: 'head_bucket',
    event: 'get_repo',
    intent: 'read',
    requires: onRepository('fs:ReadRepository'),
    forAnonymous: true,
    run: headBucket,
  }),
  createBucket: s3Operation({
    id: 'put_bucket',
    event: 'put_repo',
    intent: 'write',
    requires: onRepository('fs:CreateRepository'),
    allowedReadOnly: true,
    noRepository: () =>
      new S3Error('NotImplemented', 'Create repositories through the API: they need a storage namespace.'),
    run: createBucket,
  }),
  listObjects: s3Operation({
    id: 'list_objects',
    event: 'list_objects',
    intent: 'read',
    requires: onListing,
    forAnonymous: true,
    run: listObjects,
  }),
  getBucketLocation: s3Operation({
    id: 'list_objects',
    event: 'get_bucket_location',
    intent: 'read',
    requires: onRepository('fs:ListObjects'),
    forAnonymous: true,
    run: getBucketLocation,
  }),
  getBucketVersioning: s3Operation({
    id: 'list_objects',
    event: undefined,
    intent: 'read',
    requires: onRepository('fs:ListObjects'),
    run: getBucketVersioning,
  }),
  listMultipartUploads: s3Operation({
    id: 'list_objects',
    event: 'list_multipart_uploads',
    intent: 'read',
    requires: onRepository('fs:ListObjects'),
    run: listMultipartUploads,
  }),
  deleteObjects: s3Operation({
    id: 'delete_objects',
    event: 'delete_objects',
    intent: 'write',
    requires: 'each-key',
    run: deleteObjects,
  }),
  headObject: s3Operation({
    id: 'head_object',
    event: 'stat_object',
    intent: 'read',
    requires: onObject('fs:ReadObject'),
    forAnonymous: true,
    findsShown: true,
    run: headObject,
  }),
  getObject: s3Operation({
    id: 'get_object',
    event: 'get_object',
    intent: 'read',
    requires: onObject('fs:ReadObject'),
    forAnonymous: true,
    findsShown: true,
    run: getObject,
  }),
  getObjectTagging: s3Operation({
    id: 'get_object',
    event: undefined,
    intent: 'read',
    requires: onObject('fs:ReadObject'),
    forAnonymous: true,
    run: getObjectTagging,
  }),
  putObjectTagging: s3Operation({
    id: 'put_object',
    event: undefined,
    intent: 'write',
    requires: onObject('fs:WriteObject'),
    run: putObjectTagging,
  }),
  deleteObjectTagging: s3Operation({
    id: 'delete_object',
    event: undefined,
    intent: 'write',
    requires: onObject('fs:WriteObject'),
    run: deleteObjectTagging,
  }),
  getObjectAttributes: s3Operation({
    id: 'get_object',
    event: undefined,
    intent: 'read',
    requires: onObject('fs:ReadObject'),
    forAnonymous: true,
    run: getObjectAttributes,
  }),
  getObjectVersioning: s3Operation({
    id: 'get_object',
    event: undefined,
    intent: 'read',
    requires: onObject('fs:ReadObject'),
    run: getBucketVersioning,
  }),
  listParts: s3Operation({
    id: 'get_object',
    event: 'list_mpu_parts',
    intent: 'read',
    requires: onObject('fs:ReadObject'),
    run: listParts,
  }),
  putObject: s3Operation({
    id: 'put_object',
    event: 'put_object',
    intent: 'write',
    requires: onObject('fs:WriteObject'),
    run: putObject,
  }),
  putBranchMarker: s3Operation({
    id: 'put_object',
    event: undefined,
    intent: 'write',
    requires: onObject('fs:WriteObject'),
    run: putBranchMarker,
  }),
  copyObject: s3Operation({
    id: 'put_object',
    event: 'copy_object',
    intent: 'write',
    requires: onCopy,
    run: copyObject,
  }),
  uploadPart: s3Operation({
    id: 'put_object',
    event: 'put_mpu_part',
    intent: 'write',
    requires: onObject('fs:WriteObject'),
    run: uploadPart,
  }),
  uploadPartCopy: s3Operation({
    id: 'put_object',
    event: 'put_mpu_part',
    intent: 'write',
    requires: onCopy,
    run: uploadPartCopy,
  }),
  createMultipartUpload: s3Operation({
    id: 'post_object',
    event: 'create_mpu',
    intent: 'write',
    requires: onObject('fs:WriteObject'),
    run: createMultipartUpload,
  }),
  completeMultipartUpload: s3Operation({
    id: 'post_object',
    event: 'complete_mpu',
    intent: 'write',
    requires: onObject('fs:WriteObject'),
    checksumIsOfBody: false,
    run: completeMultipartUpload,
  }),
  abortMultipartUpload: s3Operation({
    id: 'delete_object',
    event: 'abort_mpu',
    intent: 'write',
    requires: onObject('fs:DeleteObject'),
    allowedReadOnly: true,
    run: abortMultipartUpload,
  }),
  deleteObject: s3Operation({
    id: 'delete_object',
    event: 'delete_object',
    intent: 'write',
    requires: onObject('fs:DeleteObject'),
    run: deleteObject,
  }),
  noSuchObject: s3Operation({
    id: 'not_found',
    event: undefined,
    intent: 'read',
    requires: onObject('fs:ReadObject'),
    run: noSuchObject,
  }),
  unsupported: s3Operation({
    id: 'unsupported',
    event: undefined,
    intent: 'read',
    requires: 'authenticated',
    allowedReadOnly: true,
    run: notSupported,
  }),
} as const satisfies Record<string, S3Operation>;
