import { Type } from 'typebox';
import { body, empty, errors, json, optionalBody } from '../answers.ts';
import {
  Alias,
  AliasCreation,
  AliasList,
  AliasMoveList,
  AliasRollback,
  BucketBinding,
  CredentialsViewCreation,
} from '../models/aliases.ts';
import { text } from '../models/values.ts';
import { operation } from '../operation.ts';
import { after, amount, page } from '../parameters.ts';
import { aliasArn, and, anything, namedRepositoryArn, one, userArn } from '../requirement-template.ts';

const readsTarget = one('fs:ReadRepository', namedRepositoryArn('body.repository'));

export const aliasesOperations = {
  listAliases: operation({
    operationId: 'listAliases',
    method: 'GET',
    path: '/aliases',
    tag: 'aliases',
    summary: 'List aliases: bucket names that stand for a ref',
    requires: one('fs:ListAliases', anything),
    query: { ...page, repository: Type.Optional(text) },
    responses: {
      200: json(AliasList),
      ...errors(400, 401, 429, 'default'),
    },
  }),
  createAlias: operation({
    operationId: 'createAlias',
    method: 'POST',
    idempotent: false,
    path: '/aliases',
    tag: 'aliases',
    summary: 'Let a bucket name stand for a ref, or for a folder of it',
    requires: and(one('fs:CreateAlias', aliasArn('body.name')), readsTarget),
    body: body(AliasCreation),
    responses: {
      201: json(Alias, ['ETag']),
      ...errors(400, 401, 404, 409, 429, 'default'),
    },
  }),
  getAlias: operation({
    operationId: 'getAlias',
    method: 'GET',
    path: '/aliases/{alias}',
    tag: 'aliases',
    summary: 'Get an alias and what it shows now',
    requires: one('fs:ReadAlias', aliasArn('path.alias')),
    responses: {
      200: json(Alias, ['ETag']),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  setAlias: operation({
    operationId: 'setAlias',
    method: 'PUT',
    idempotent: true,
    path: '/aliases/{alias}',
    tag: 'aliases',
    summary: 'Swap what an alias stands for; every request that begins after the answer sees it',
    requires: and(one('fs:UpdateAlias', aliasArn('path.alias')), readsTarget),
    headers: { 'if-match': Type.Optional(Type.String()) },
    body: body(BucketBinding),
    responses: {
      200: json(Alias, ['ETag']),
      ...errors(400, 401, 404, 412, 429, 'default'),
    },
  }),
  deleteAlias: operation({
    operationId: 'deleteAlias',
    method: 'DELETE',
    idempotent: true,
    path: '/aliases/{alias}',
    tag: 'aliases',
    summary: 'Delete an alias',
    requires: one('fs:DeleteAlias', aliasArn('path.alias')),
    responses: {
      204: empty(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  rollbackAlias: operation({
    operationId: 'rollbackAlias',
    method: 'POST',
    idempotent: false,
    path: '/aliases/{alias}/rollback',
    tag: 'aliases',
    summary: 'Let an alias stand for what it stood for before its last move, or before a given one',
    requires: one('fs:UpdateAlias', aliasArn('path.alias')),
    body: optionalBody(AliasRollback),
    responses: {
      200: json(Alias, ['ETag']),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  aliasLog: operation({
    operationId: 'aliasLog',
    method: 'GET',
    path: '/aliases/{alias}/log',
    tag: 'aliases',
    summary: 'List what an alias stood for, newest first',
    requires: one('fs:ReadAlias', aliasArn('path.alias')),
    query: { after, amount },
    responses: {
      200: json(AliasMoveList),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  setCredentialsView: operation({
    operationId: 'setCredentialsView',
    method: 'PUT',
    idempotent: true,
    path: '/auth/users/{userId}/credentials/{accessKeyId}/view',
    tag: 'auth',
    summary: 'Bind an access key to one bucket that stands for a ref; it is then good for S3 only',
    requires: and(one('auth:CreateCredentials', userArn('path.userId')), readsTarget),
    body: body(CredentialsViewCreation),
    responses: {
      200: json(Alias),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  deleteCredentialsView: operation({
    operationId: 'deleteCredentialsView',
    method: 'DELETE',
    idempotent: true,
    path: '/auth/users/{userId}/credentials/{accessKeyId}/view',
    tag: 'auth',
    summary: 'Let an access key be used for everything again',
    requires: one('auth:CreateCredentials', userArn('path.userId')),
    responses: {
      204: empty(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
} as const;
