import { Type } from 'typebox';
import { body, bytes, empty, errors, json } from '../answers.ts';
import {
  ObjectCopyCreation,
  ObjectErrorList,
  ObjectStats,
  ObjectStatsList,
  PathList,
  UnderlyingObjectProperties,
  UpdateObjectUserMetadata,
} from '../models/objects.ts';
import { binary, offFlag, onFlag, text } from '../models/values.ts';
import { operation } from '../operation.ts';
import { condition, delimiter, force, objectPath, page, presign, range } from '../parameters.ts';
import { and, deferred, each, objectArn, one, repositoryArn } from '../permission.ts';

export const objectsOperations = {
  getObject: operation({
    operationId: 'getObject',
    method: 'GET',
    path: '/repositories/{repository}/refs/{ref}/objects',
    tag: 'objects',
    summary: 'Read an object',
    permission: one('fs:ReadObject', objectArn('query.path')),
    query: { path: objectPath, presign },
    headers: { range: range, 'if-none-match': condition },
    responses: {
      200: bytes(['Content-Length', 'Last-Modified', 'ETag']),
      206: bytes(['Content-Length', 'Content-Range', 'Last-Modified', 'ETag']),
      302: empty(['Location']),
      304: empty(),
      ...errors(400, 401, 404, 410, 416, 429, 'default'),
    },
  }),
  headObject: operation({
    operationId: 'headObject',
    method: 'HEAD',
    path: '/repositories/{repository}/refs/{ref}/objects',
    tag: 'objects',
    summary: 'Read the headers of an object',
    permission: one('fs:ReadObject', objectArn('query.path')),
    query: { path: objectPath },
    headers: { range: range },
    responses: {
      200: empty(['Content-Length', 'Last-Modified', 'ETag']),
      206: empty(['Content-Length', 'Content-Range', 'Last-Modified', 'ETag']),
      400: empty(),
      401: empty(),
      404: empty(),
      410: empty(),
      416: empty(),
      default: empty(),
      ...errors(429),
    },
  }),
  uploadObject: operation({
    operationId: 'uploadObject',
    method: 'POST',
    path: '/repositories/{repository}/branches/{branch}/objects',
    tag: 'objects',
    summary: 'Write an object',
    permission: one('fs:WriteObject', objectArn('query.path')),
    query: { path: objectPath, storageClass: Type.Optional(text), force },
    headers: { 'if-none-match': condition, 'if-match': condition },
    body: {
      required: false,
      content: {
        'multipart/form-data': Type.Object({ content: Type.Optional(binary) }),
        'application/octet-stream': binary,
      },
    },
    responses: {
      201: json(ObjectStats),
      ...errors(400, 401, 403, 404, 412, 429, 501, 'default'),
    },
  }),
  deleteObject: operation({
    operationId: 'deleteObject',
    method: 'DELETE',
    path: '/repositories/{repository}/branches/{branch}/objects',
    tag: 'objects',
    summary: 'Delete an object',
    permission: one('fs:DeleteObject', objectArn('query.path')),
    query: { path: objectPath, force, no_tombstone: Type.Optional(offFlag) },
    responses: {
      204: empty(),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
  deleteObjects: operation({
    operationId: 'deleteObjects',
    method: 'POST',
    path: '/repositories/{repository}/branches/{branch}/objects/delete',
    tag: 'objects',
    summary: 'Delete up to 1000 objects',
    permission: deferred(
      'a refused path is reported in the answer',
      each('paths', one('fs:DeleteObject', objectArn('item'))),
    ),
    query: { force, no_tombstone: Type.Optional(offFlag) },
    body: body(PathList),
    responses: {
      200: json(ObjectErrorList),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
  copyObject: operation({
    operationId: 'copyObject',
    method: 'POST',
    path: '/repositories/{repository}/branches/{branch}/objects/copy',
    tag: 'objects',
    summary: 'Copy an object within a repository',
    permission: and(
      one('fs:ReadObject', objectArn('body.src_path')),
      one('fs:WriteObject', objectArn('query.dest_path')),
    ),
    query: { dest_path: text },
    body: body(ObjectCopyCreation),
    responses: {
      201: json(ObjectStats),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
  statObject: operation({
    operationId: 'statObject',
    method: 'GET',
    path: '/repositories/{repository}/refs/{ref}/objects/stat',
    tag: 'objects',
    summary: 'Describe an object',
    permission: one('fs:ReadObject', objectArn('query.path')),
    query: { path: objectPath, user_metadata: Type.Optional(onFlag), presign },
    responses: {
      200: json(ObjectStats),
      410: empty(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  updateObjectUserMetadata: operation({
    operationId: 'updateObjectUserMetadata',
    method: 'PUT',
    path: '/repositories/{repository}/branches/{branch}/objects/stat/user_metadata',
    tag: 'objects',
    summary: 'Replace the user metadata of an object',
    permission: one('fs:WriteObject', objectArn('query.path')),
    query: { path: objectPath },
    body: body(UpdateObjectUserMetadata),
    responses: {
      204: empty(),
      201: empty(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  getUnderlyingProperties: operation({
    operationId: 'getUnderlyingProperties',
    method: 'GET',
    path: '/repositories/{repository}/refs/{ref}/objects/underlyingProperties',
    tag: 'objects',
    summary: 'Get what the object store says of an object',
    permission: one('fs:ReadObject', objectArn('query.path')),
    query: { path: objectPath },
    responses: {
      200: json(UnderlyingObjectProperties),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  listObjects: operation({
    operationId: 'listObjects',
    method: 'GET',
    path: '/repositories/{repository}/refs/{ref}/objects/ls',
    tag: 'objects',
    summary: 'List objects under a prefix',
    permission: one('fs:ListObjects', repositoryArn),
    query: { ...page, user_metadata: Type.Optional(onFlag), presign, delimiter },
    responses: {
      200: json(ObjectStatsList),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
} as const;
