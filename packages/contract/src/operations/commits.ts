import { Type } from 'typebox';
import { body, empty, errors, json } from '../answers.ts';
import { Commit, CommitCreation, CommitRecordCreation } from '../models/commits.ts';
import { hashId } from '../models/values.ts';
import { operation } from '../operation.ts';
import { branchArn, one, repositoryArn } from '../requirement-template.ts';

export const commitsOperations = {
  commit: operation({
    operationId: 'commit',
    method: 'POST',
    idempotent: false,
    path: '/repositories/{repository}/branches/{branch}/commits',
    tag: 'commits',
    summary: 'Commit the staged changes of a branch',
    requires: one('fs:CreateCommit', branchArn('path.branch')),
    query: {
      source_metarange: Type.Optional(
        Type.String({
          ...hashId,
          description:
            'Commit this tree instead of what is staged. It must be a tree of objects in this repository. Who may not read every object of every repository needs read permission on all objects of each repository whose data it refers to, this one included.',
        }),
      ),
    },
    body: body(CommitCreation),
    responses: {
      201: json(Commit),
      ...errors(400, 401, 403, 404, 409, 412, 429, 'default'),
    },
  }),
  getCommit: operation({
    operationId: 'getCommit',
    method: 'GET',
    path: '/repositories/{repository}/commits/{commitId}',
    tag: 'commits',
    summary: 'Get a commit',
    requires: one('fs:ReadCommit', repositoryArn),
    responses: {
      200: json(Commit),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  CreateCommitRecord: operation({
    operationId: 'CreateCommitRecord',
    method: 'POST',
    idempotent: false,
    path: '/repositories/{repository}/commits',
    tag: 'internal',
    summary: 'Store a commit record with a known id',
    internal: true,
    requires: one('fs:CreateCommit', repositoryArn),
    body: body(CommitRecordCreation),
    responses: {
      204: empty(),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
} as const;
