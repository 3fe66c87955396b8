import { Type } from 'typebox';
import { body, empty, errors, json } from '../answers.ts';
import { Ref, RefList, TagCreation } from '../models/refs.ts';
import { flag } from '../models/values.ts';
import { operation } from '../operation.ts';
import { page, search } from '../parameters.ts';
import { one, repositoryArn, tagArn } from '../requirement-template.ts';

export const tagsOperations = {
  listTags: operation({
    operationId: 'listTags',
    method: 'GET',
    path: '/repositories/{repository}/tags',
    tag: 'tags',
    summary: 'List tags',
    requires: one('fs:ListTags', repositoryArn),
    query: { ...page, search },
    responses: {
      200: json(RefList),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  createTag: operation({
    operationId: 'createTag',
    method: 'POST',
    idempotent: false,
    path: '/repositories/{repository}/tags',
    tag: 'tags',
    summary: 'Create a tag',
    requires: one('fs:CreateTag', tagArn('body.id')),
    body: body(TagCreation),
    responses: {
      201: json(Ref),
      ...errors(400, 401, 403, 404, 409, 429, 'default'),
    },
  }),
  getTag: operation({
    operationId: 'getTag',
    method: 'GET',
    path: '/repositories/{repository}/tags/{tag}',
    tag: 'tags',
    summary: 'Get a tag',
    requires: one('fs:ReadTag', tagArn('path.tag')),
    responses: {
      200: json(Ref),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  deleteTag: operation({
    operationId: 'deleteTag',
    method: 'DELETE',
    idempotent: true,
    path: '/repositories/{repository}/tags/{tag}',
    tag: 'tags',
    summary: 'Delete a tag',
    requires: one('fs:DeleteTag', tagArn('path.tag')),
    query: { force: Type.Optional(flag) },
    responses: {
      204: empty(),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
} as const;
