import { S3Error } from '../errors/s3-error.ts';
import type { S3Request } from '../request/s3-request.ts';
import type { Address } from './address.ts';
import { operations } from './operations.ts';
import type { S3Operation } from './s3-operation.ts';

export type Shape = 'service' | 'bucket' | 'object';

export interface Route {
  readonly shape: Shape;
  readonly operation: S3Operation;
}

/** Which operation a request means. Sub-resources are refused later, once the caller is known. */
export function routeOf(request: S3Request, address: Address): Route {
  if (address.repository === undefined) return { shape: 'service', operation: serviceOperation(request) };
  if (address.ref === undefined) return { shape: 'bucket', operation: bucketOperation(request) };
  const operation =
    address.ref === '' || address.path === '' ? pathlessOperation(request) : objectOperation(request);
  return { shape: 'object', operation };
}

function serviceOperation({ method }: S3Request): S3Operation {
  switch (method) {
    case 'GET':
      return operations.listBuckets;
    case 'HEAD':
    case 'PUT':
    case 'POST':
    case 'DELETE':
      throw new S3Error('NoSuchBucket');
    default:
      throw new S3Error('MethodNotAllowed');
  }
}

function bucketOperation({ method, query }: S3Request): S3Operation {
  switch (method) {
    case 'GET':
      if (query.has('uploads')) return operations.listMultipartUploads;
      if (query.has('location')) return operations.getBucketLocation;
      if (query.has('versioning')) return operations.getBucketVersioning;
      return operations.listObjects;
    case 'HEAD':
      return operations.headBucket;
    case 'PUT':
      return operations.createBucket;
    case 'POST':
      return query.has('delete') ? operations.deleteObjects : operations.unsupported;
    case 'DELETE':
      return operations.unsupported;
    default:
      throw new S3Error('MethodNotAllowed');
  }
}

/** `/r/main`, `/r/main/` and `/r//x`: no object can be there. */
function pathlessOperation({ method }: S3Request): S3Operation {
  switch (method) {
    case 'GET':
    case 'HEAD':
    case 'POST':
      return operations.noSuchObject;
    case 'PUT':
      return operations.putBranchMarker;
    case 'DELETE':
      return operations.deleteObject;
    default:
      throw new S3Error('MethodNotAllowed');
  }
}

function objectOperation(request: S3Request): S3Operation {
  const { method, query, headers } = request;
  switch (method) {
    case 'GET':
      if (query.has('uploadId')) return operations.listParts;
      if (query.has('tagging')) return operations.getObjectTagging;
      if (query.has('attributes')) return operations.getObjectAttributes;
      if (query.has('versioning')) return operations.getObjectVersioning;
      return operations.getObject;
    case 'HEAD':
      return operations.headObject;
    case 'PUT': {
      if (query.has('tagging')) return operations.putObjectTagging;
      const copies = headers.has('x-amz-copy-source');
      if (query.has('uploadId')) return copies ? operations.uploadPartCopy : operations.uploadPart;
      if (query.has('partNumber') || query.has('uploads'))
        throw new S3Error('InvalidArgument', 'This operation needs both uploadId and partNumber.');
      return copies ? operations.copyObject : operations.putObject;
    }
    case 'POST':
      if (query.has('uploads')) return operations.createMultipartUpload;
      if (query.has('uploadId')) return operations.completeMultipartUpload;
      if (query.has('restore') || query.has('select')) return operations.unsupported;
      throw new S3Error('MethodNotAllowed');
    case 'DELETE':
      if (query.has('tagging')) return operations.deleteObjectTagging;
      return query.has('uploadId') ? operations.abortMultipartUpload : operations.deleteObject;
    default:
      throw new S3Error('MethodNotAllowed');
  }
}
