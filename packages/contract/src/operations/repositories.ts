import { Type } from 'typebox';
import { body, empty, errors, json } from '../answers.ts';
import { TaskInfo } from '../models/common.ts';
import {
  DeletedRepositoryList,
  RefsRestore,
  Repository,
  RepositoryCreation,
  RepositoryDumpStatus,
  RepositoryList,
  RepositoryMetadata,
  RepositoryRestoreStatus,
} from '../models/repositories.ts';
import { offFlag, text } from '../models/values.ts';
import { operation } from '../operation.ts';
import { force, page, search } from '../parameters.ts';
import {
  and,
  anything,
  deferred,
  namedRepositoryArn,
  namespaceArn,
  one,
  repositoryArn,
  soft,
} from '../requirement-template.ts';

export const repositoriesOperations = {
  listRepositories: operation({
    operationId: 'listRepositories',
    method: 'GET',
    path: '/repositories',
    tag: 'repositories',
    summary: 'List repositories',
    requires: one('fs:ListRepositories', anything),
    query: { ...page, search, summary: Type.Optional(offFlag) },
    responses: {
      200: json(RepositoryList),
      ...errors(400, 401, 429, 'default'),
    },
  }),
  createRepository: operation({
    operationId: 'createRepository',
    method: 'POST',
    idempotent: false,
    path: '/repositories',
    tag: 'repositories',
    summary: 'Create a repository',
    requires: and(
      one('fs:CreateRepository', namedRepositoryArn('body.name')),
      soft('fs:AttachStorageNamespace', namespaceArn('body.storage_namespace')),
    ),
    query: { bare: Type.Optional(offFlag) },
    body: body(RepositoryCreation),
    responses: {
      201: json(Repository),
      ...errors(400, 401, 409, 429, 'default'),
    },
  }),
  getRepository: operation({
    operationId: 'getRepository',
    method: 'GET',
    path: '/repositories/{repository}',
    tag: 'repositories',
    summary: 'Get a repository',
    requires: one('fs:ReadRepository', repositoryArn),
    query: { summary: Type.Optional(offFlag) },
    responses: {
      200: json(Repository),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  deleteRepository: operation({
    operationId: 'deleteRepository',
    method: 'DELETE',
    idempotent: true,
    path: '/repositories/{repository}',
    tag: 'repositories',
    summary:
      'Delete a repository; it can be restored for a while, and its data in the object store stays unless delete_data is set',
    requires: {
      type: 'choose',
      query: 'delete_data',
      whenTrue: and(
        one('fs:DeleteRepository', repositoryArn),
        one('retention:RunGarbageCollection', repositoryArn),
      ),
      otherwise: one('fs:DeleteRepository', repositoryArn),
    },
    query: { force, purge: Type.Optional(offFlag), delete_data: Type.Optional(offFlag) },
    responses: {
      204: empty(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  listDeletedRepositories: operation({
    operationId: 'listDeletedRepositories',
    method: 'GET',
    path: '/deleted_repositories',
    tag: 'repositories',
    summary: 'List deleted repositories that can be restored',
    requires: one('fs:ListRepositories', anything),
    query: page,
    responses: {
      200: json(DeletedRepositoryList),
      ...errors(400, 401, 429, 'default'),
    },
  }),
  restoreRepository: operation({
    operationId: 'restoreRepository',
    method: 'POST',
    idempotent: false,
    path: '/deleted_repositories/{instance}/restore',
    tag: 'repositories',
    summary: 'Bring a deleted repository back with everything it had',
    requires: deferred(
      'name and namespace are known once its record was read',
      and(
        one('fs:CreateRepository', namedRepositoryArn('read.repository')),
        soft('fs:AttachStorageNamespace', namespaceArn('read.namespace')),
      ),
    ),
    responses: {
      201: json(Repository),
      ...errors(400, 401, 404, 409, 429, 'default'),
    },
  }),
  purgeRepository: operation({
    operationId: 'purgeRepository',
    method: 'DELETE',
    idempotent: true,
    path: '/deleted_repositories/{instance}',
    tag: 'repositories',
    summary: 'Remove what is left of a deleted repository; there is no way back',
    requires: deferred(
      'its name is known once its record was read; delete_data also needs retention:RunGarbageCollection on it',
      one('fs:DeleteRepository', namedRepositoryArn('read.repository')),
    ),
    query: { delete_data: Type.Optional(offFlag) },
    responses: {
      204: empty(),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  getRepositoryMetadata: operation({
    operationId: 'getRepositoryMetadata',
    method: 'GET',
    path: '/repositories/{repository}/metadata',
    tag: 'repositories',
    summary: 'Get the metadata of a repository',
    requires: one('fs:ReadRepository', repositoryArn),
    responses: {
      200: json(RepositoryMetadata),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  dumpStatus: operation({
    operationId: 'dumpStatus',
    method: 'GET',
    path: '/repositories/{repository}/dump',
    tag: 'repositories',
    summary: 'Follow a dump',
    requires: and(
      one('fs:ListTags', repositoryArn),
      one('fs:ListBranches', repositoryArn),
      one('fs:ListCommits', repositoryArn),
    ),
    query: { task_id: text },
    responses: {
      200: json(RepositoryDumpStatus),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  dumpSubmit: operation({
    operationId: 'dumpSubmit',
    method: 'POST',
    idempotent: false,
    path: '/repositories/{repository}/dump',
    tag: 'repositories',
    summary: 'Start dumping commits, branches and tags',
    requires: and(
      one('fs:ListTags', repositoryArn),
      one('fs:ListBranches', repositoryArn),
      one('fs:ListCommits', repositoryArn),
    ),
    responses: {
      202: json(TaskInfo),
      ...errors(400, 401, 404, 'default'),
    },
  }),
  restoreStatus: operation({
    operationId: 'restoreStatus',
    method: 'GET',
    path: '/repositories/{repository}/restore',
    tag: 'repositories',
    summary: 'Follow a restore',
    requires: and(
      one('fs:CreateTag', repositoryArn),
      one('fs:CreateBranch', repositoryArn),
      one('fs:CreateCommit', repositoryArn),
    ),
    query: { task_id: text },
    responses: {
      200: json(RepositoryRestoreStatus),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  restoreSubmit: operation({
    operationId: 'restoreSubmit',
    method: 'POST',
    idempotent: false,
    path: '/repositories/{repository}/restore',
    tag: 'repositories',
    summary: 'Start restoring commits, branches and tags into a bare repository',
    requires: and(
      one('fs:CreateTag', repositoryArn),
      one('fs:CreateBranch', repositoryArn),
      one('fs:CreateCommit', repositoryArn),
    ),
    body: body(RefsRestore),
    responses: {
      202: json(TaskInfo),
      ...errors(400, 401, 403, 404, 'default'),
    },
  }),
} as const;
