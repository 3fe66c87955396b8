import { Type } from 'typebox';
import { body, bodyShownOptional, empty, errors, json } from '../answers.ts';
import { ObjectStageCreation, ObjectStats } from '../models/objects.ts';
import {
  AbortPresignMultipartUpload,
  CompletePresignMultipartUpload,
  PresignMultipartUpload,
  StagingLocation,
  StagingMetadata,
  UploadPartCopyFrom,
  UploadPartFrom,
  UploadTo,
} from '../models/staging.ts';
import { integer } from '../models/values.ts';
import { operation } from '../operation.ts';
import { condition, objectPath, presign } from '../parameters.ts';
import {
  and,
  deferred,
  namedRepositoryArn,
  namespaceArn,
  objectArn,
  one,
  soft,
} from '../requirement-template.ts';

export const stagingOperations = {
  getPhysicalAddress: operation({
    operationId: 'getPhysicalAddress',
    method: 'GET',
    path: '/repositories/{repository}/branches/{branch}/staging/backing',
    tag: 'staging',
    summary: 'Get an address to which a client may write an object itself',
    requires: one('fs:WriteObject', objectArn('query.path')),
    query: { path: objectPath, presign },
    responses: {
      200: json(StagingLocation),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  linkPhysicalAddress: operation({
    operationId: 'linkPhysicalAddress',
    method: 'PUT',
    idempotent: true,
    path: '/repositories/{repository}/branches/{branch}/staging/backing',
    tag: 'staging',
    summary: 'Stage an object that the client has written',
    requires: and(
      one('fs:WriteObject', objectArn('query.path')),
      deferred(
        'applies only to an address outside the data of the repository',
        soft('fs:ImportFromStorage', namespaceArn('body.staging.physical_address')),
      ),
    ),
    query: { path: objectPath },
    headers: { 'if-none-match': condition, 'if-match': condition },
    body: body(StagingMetadata),
    responses: {
      200: json(ObjectStats),
      409: json(StagingLocation),
      ...errors(400, 401, 403, 404, 412, 429, 501, 'default'),
    },
  }),
  stageObject: operation({
    operationId: 'stageObject',
    method: 'PUT',
    idempotent: true,
    path: '/repositories/{repository}/branches/{branch}/objects',
    tag: 'internal',
    summary: 'Stage an object that already exists in the object store',
    deprecated: true,
    internal: true,
    requires: and(
      one('fs:WriteObject', objectArn('query.path')),
      deferred(
        'applies only to an address outside the data of the repository',
        soft('fs:ImportFromStorage', namespaceArn('body.physical_address')),
      ),
    ),
    query: { path: objectPath },
    body: body(ObjectStageCreation),
    responses: {
      201: json(ObjectStats),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
  createPresignMultipartUpload: operation({
    operationId: 'createPresignMultipartUpload',
    method: 'POST',
    idempotent: false,
    path: '/repositories/{repository}/branches/{branch}/staging/pmpu',
    tag: 'experimental',
    summary: 'Start an upload in parts straight to the object store',
    experimental: true,
    requires: one('fs:WriteObject', objectArn('query.path')),
    query: { path: objectPath, parts: Type.Optional(integer) },
    responses: {
      201: json(PresignMultipartUpload),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  completePresignMultipartUpload: operation({
    operationId: 'completePresignMultipartUpload',
    method: 'PUT',
    idempotent: false,
    path: '/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}',
    tag: 'experimental',
    summary: 'Finish an upload in parts and stage the object',
    experimental: true,
    requires: one('fs:WriteObject', objectArn('query.path')),
    query: { path: objectPath },
    body: bodyShownOptional(CompletePresignMultipartUpload),
    responses: {
      200: json(ObjectStats),
      409: json(StagingLocation),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  abortPresignMultipartUpload: operation({
    operationId: 'abortPresignMultipartUpload',
    method: 'DELETE',
    idempotent: true,
    path: '/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}',
    tag: 'experimental',
    summary: 'Give up an upload in parts',
    experimental: true,
    requires: one('fs:WriteObject', objectArn('query.path')),
    query: { path: objectPath },
    body: bodyShownOptional(AbortPresignMultipartUpload),
    responses: {
      204: empty(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  uploadPart: operation({
    operationId: 'uploadPart',
    method: 'PUT',
    idempotent: true,
    path: '/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}/parts/{partNumber}',
    tag: 'experimental',
    summary: 'Get a URL for one part of an upload',
    experimental: true,
    requires: one('fs:WriteObject', objectArn('query.path')),
    params: { partNumber: Type.Integer({ minimum: 1, maximum: 10000 }) },
    query: { path: objectPath },
    body: body(UploadPartFrom),
    responses: {
      200: json(UploadTo),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  uploadPartCopy: operation({
    operationId: 'uploadPartCopy',
    method: 'PUT',
    idempotent: true,
    path: '/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}/parts/{partNumber}/copy',
    tag: 'experimental',
    summary: 'Fill one part of an upload from an existing object',
    experimental: true,
    requires: and(
      one('fs:WriteObject', objectArn('query.path')),
      one(
        'fs:ReadObject',
        `${namedRepositoryArn('body.copy_source.repository')}/object/{body.copy_source.path}`,
      ),
    ),
    params: { partNumber: Type.Integer({ minimum: 1, maximum: 10000 }) },
    query: { path: objectPath },
    body: body(UploadPartCopyFrom),
    responses: {
      204: empty(['ETag']),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
} as const;
