import { Type } from 'typebox';
import { body, bodyShownOptional, empty, errors, json } from '../answers.ts';
import { AuthenticationToken, StsAuthRequest } from '../models/auth.ts';
import { ObjectStats } from '../models/objects.ts';
import {
  AbortPresignMultipartUpload,
  CompletePresignMultipartUpload,
  PresignMultipartUpload,
  StagingLocation,
  UploadPartCopyFrom,
  UploadPartFrom,
  UploadTo,
} from '../models/staging.ts';
import { integer, text } from '../models/values.ts';
import { operation } from '../operation.ts';
import { force, objectPath } from '../parameters.ts';
import { and, branchArn, namedRepositoryArn, objectArn, one, open } from '../permission.ts';

export const experimentalOperations = {
  stsLogin: operation({
    operationId: 'stsLogin',
    method: 'POST',
    idempotent: false,
    path: '/sts/login',
    tag: 'experimental',
    summary: 'Exchange an authorization code for a short-lived token',
    experimental: true,
    permission: open,
    body: body(StsAuthRequest),
    responses: {
      200: json(AuthenticationToken),
      ...errors(400, 401, 429, 'default'),
    },
  }),
  hardResetBranch: operation({
    operationId: 'hardResetBranch',
    method: 'PUT',
    idempotent: false,
    path: '/repositories/{repository}/branches/{branch}/hard_reset',
    tag: 'experimental',
    summary: 'Move a branch to another commit',
    experimental: true,
    permission: one('fs:RevertBranch', branchArn('path.branch')),
    query: { ref: text, force },
    responses: {
      204: empty(),
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
    permission: one('fs:WriteObject', objectArn('query.path')),
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
    permission: one('fs:WriteObject', objectArn('query.path')),
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
    permission: one('fs:WriteObject', objectArn('query.path')),
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
    permission: one('fs:WriteObject', objectArn('query.path')),
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
    permission: and(
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
