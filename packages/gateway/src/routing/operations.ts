import { and, arn, one, soft, type Requirement } from '@svc/auth';
import type { Call, ServiceCall } from '../call.ts';
import type { Intent } from '../errors/to-s3-error.ts';
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
import { copySourceOf } from '../operations/copy-source.ts';
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
import type { S3Request } from '../request/s3-request.ts';

/** What a requirement may depend on. */
export interface RequirementInput {
  readonly request: S3Request;
  readonly repository: string;
  readonly path: string;
}

/**
 * The permission an operation needs. `each-key`: checked by the operation for every key of its document;
 * `authenticated`: only refusals are answered, to those who may know of the repository.
 */
export type RequirementRule = ((input: RequirementInput) => Requirement) | 'each-key' | 'authenticated';

interface Described {
  /** Name in metrics and the audit log. */
  readonly id: string;
  /** Name of the usage event. */
  readonly event: string | undefined;
  readonly intent: Intent;
  readonly requires: RequirementRule;
  /** False where `x-amz-checksum-*` speaks of the whole object rather than of the request's body. */
  readonly checksumIsOfBody?: false;
  /** Allowed although the repository is read-only. */
  readonly allowedReadOnly?: true;
}

export interface ObjectOperation extends Described {
  readonly run: (call: Call) => Promise<void> | void;
}

export interface ServiceOperation extends Described {
  readonly runService: (call: ServiceCall) => Promise<void> | void;
}

export type Operation = ObjectOperation | ServiceOperation;

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
  try {
    const source = copySourceOf(input.request);
    return and(write, one('fs:ReadObject', arn.object(source.repository, source.path)));
  } catch {
    // The operation refuses such a source, but only to those who may write here at all.
    return write;
  }
};

const onListing = ({ request, repository }: RequirementInput): Requirement => {
  const prefix = request.query.get('prefix') ?? '';
  const resource = arn.repository(repository);
  if (request.query.get('delimiter') !== '/') return one('fs:ListObjects', resource);
  if (prefix === '') return one('fs:ListBranches', resource);
  return prefix.includes('/')
    ? one('fs:ListObjects', resource)
    : and(one('fs:ListObjects', resource), soft('fs:ListBranches', resource));
};

/** Every operation with its permission. */
export const operations = {
  listBuckets: {
    id: 'list_buckets',
    event: 'list_repos',
    intent: 'read',
    requires: () => one('fs:ListRepositories', arn.all),
    runService: listBuckets,
  },
  headBucket: {
    id: 'head_bucket',
    event: 'get_repo',
    intent: 'read',
    requires: onRepository('fs:ReadRepository'),
    run: headBucket,
  },
  createBucket: {
    id: 'put_bucket',
    event: 'put_repo',
    intent: 'write',
    requires: onRepository('fs:CreateRepository'),
    allowedReadOnly: true,
    run: createBucket,
  },
  listObjects: {
    id: 'list_objects',
    event: 'list_objects',
    intent: 'read',
    requires: onListing,
    run: listObjects,
  },
  getBucketLocation: {
    id: 'list_objects',
    event: 'get_bucket_location',
    intent: 'read',
    requires: onRepository('fs:ListObjects'),
    run: getBucketLocation,
  },
  getBucketVersioning: {
    id: 'list_objects',
    event: undefined,
    intent: 'read',
    requires: onRepository('fs:ListObjects'),
    run: getBucketVersioning,
  },
  listMultipartUploads: {
    id: 'list_objects',
    event: 'list_multipart_uploads',
    intent: 'read',
    requires: onRepository('fs:ListObjects'),
    run: listMultipartUploads,
  },
  deleteObjects: {
    id: 'delete_objects',
    event: 'delete_objects',
    intent: 'write',
    requires: 'each-key',
    run: deleteObjects,
  },
  headObject: {
    id: 'head_object',
    event: 'stat_object',
    intent: 'read',
    requires: onObject('fs:ReadObject'),
    run: headObject,
  },
  getObject: {
    id: 'get_object',
    event: 'get_object',
    intent: 'read',
    requires: onObject('fs:ReadObject'),
    run: getObject,
  },
  getObjectTagging: {
    id: 'get_object',
    event: undefined,
    intent: 'read',
    requires: onObject('fs:ReadObject'),
    run: getObjectTagging,
  },
  putObjectTagging: {
    id: 'put_object',
    event: undefined,
    intent: 'write',
    requires: onObject('fs:WriteObject'),
    run: putObjectTagging,
  },
  deleteObjectTagging: {
    id: 'delete_object',
    event: undefined,
    intent: 'write',
    requires: onObject('fs:WriteObject'),
    run: deleteObjectTagging,
  },
  getObjectAttributes: {
    id: 'get_object',
    event: undefined,
    intent: 'read',
    requires: onObject('fs:ReadObject'),
    run: getObjectAttributes,
  },
  getObjectVersioning: {
    id: 'get_object',
    event: undefined,
    intent: 'read',
    requires: onObject('fs:ReadObject'),
    run: getBucketVersioning,
  },
  listParts: {
    id: 'get_object',
    event: 'list_mpu_parts',
    intent: 'read',
    requires: onObject('fs:ReadObject'),
    run: listParts,
  },
  putObject: {
    id: 'put_object',
    event: 'put_object',
    intent: 'write',
    requires: onObject('fs:WriteObject'),
    run: putObject,
  },
  putBranchMarker: {
    id: 'put_object',
    event: undefined,
    intent: 'write',
    requires: onObject('fs:WriteObject'),
    run: putBranchMarker,
  },
  copyObject: {
    id: 'put_object',
    event: 'copy_object',
    intent: 'write',
    requires: onCopy,
    run: copyObject,
  },
  uploadPart: {
    id: 'put_object',
    event: 'put_mpu_part',
    intent: 'write',
    requires: onObject('fs:WriteObject'),
    run: uploadPart,
  },
  uploadPartCopy: {
    id: 'put_object',
    event: 'put_mpu_part',
    intent: 'write',
    requires: onCopy,
    run: uploadPartCopy,
  },
  createMultipartUpload: {
    id: 'post_object',
    event: 'create_mpu',
    intent: 'write',
    requires: onObject('fs:WriteObject'),
    run: createMultipartUpload,
  },
  completeMultipartUpload: {
    id: 'post_object',
    event: 'complete_mpu',
    intent: 'write',
    requires: onObject('fs:WriteObject'),
    checksumIsOfBody: false,
    run: completeMultipartUpload,
  },
  abortMultipartUpload: {
    id: 'delete_object',
    event: 'abort_mpu',
    intent: 'write',
    requires: onObject('fs:DeleteObject'),
    allowedReadOnly: true,
    run: abortMultipartUpload,
  },
  deleteObject: {
    id: 'delete_object',
    event: 'delete_object',
    intent: 'write',
    requires: onObject('fs:DeleteObject'),
    run: deleteObject,
  },
  noSuchObject: {
    id: 'not_found',
    event: undefined,
    intent: 'read',
    requires: onObject('fs:ReadObject'),
    run: noSuchObject,
  },
  unsupported: {
    id: 'unsupported',
    event: undefined,
    intent: 'read',
    requires: 'authenticated',
    allowedReadOnly: true,
    run: notSupported,
  },
} as const satisfies Record<string, Operation>;
