import { Type } from 'typebox';
import { body, empty, errors, json } from '../answers.ts';
import {
  DeletedRefList,
  loggedRefType,
  ReflogSettings,
  RefMove,
  RefMoveList,
  ResolvedRef,
  RollbackRequest,
  RollbackResult,
  UndeletedRef,
  UndeleteRequest,
} from '../models/reflog.ts';
import { dateTime, offFlag, text } from '../models/values.ts';
import { operation } from '../operation.ts';
import { after, amount, page, reference, since } from '../parameters.ts';
import { branchArn, deferred, one, repositoryArn } from '../requirement-template.ts';

export const reflogOperations = {
  listReflog: operation({
    operationId: 'listReflog',
    method: 'GET',
    path: '/repositories/{repository}/reflog',
    tag: 'refs',
    summary: 'List the moves of branches and tags, newest first',
    requires: deferred(
      'of one ref: fs:ReadBranch or fs:ReadTag on it; of all: fs:ListBranches, and moves of tags only with fs:ListTags',
      one('fs:ListBranches', repositoryArn),
    ),
    query: {
      ref: reference,
      ref_type: Type.Optional(loggedRefType),
      kind: Type.Optional(Type.Array(text)),
      user: Type.Optional(text),
      since,
      until: since,
      show_hidden: Type.Optional(offFlag),
      after,
      amount,
    },
    responses: {
      200: json(RefMoveList),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  getRefMove: operation({
    operationId: 'getRefMove',
    method: 'GET',
    path: '/repositories/{repository}/reflog/{move}',
    tag: 'refs',
    summary: 'Get one move of a branch or tag',
    requires: deferred('as listReflog', one('fs:ListBranches', repositoryArn)),
    responses: {
      200: json(RefMove),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  expireReflog: operation({
    operationId: 'expireReflog',
    method: 'DELETE',
    idempotent: true,
    path: '/repositories/{repository}/reflog',
    tag: 'refs',
    summary: 'Forget the moves before a time; what only they could bring back may be collected',
    requires: one('retention:SetGarbageCollectionRules', repositoryArn),
    query: { before: dateTime },
    responses: {
      204: empty(),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
  resolveRef: operation({
    operationId: 'resolveRef',
    method: 'GET',
    path: '/repositories/{repository}/refs/{ref}/resolve',
    tag: 'refs',
    summary: 'Say which commit a ref stands for',
    requires: one('fs:ReadCommit', repositoryArn),
    query: { rights: Type.Optional(offFlag), path: Type.Optional(text) },
    responses: {
      200: json(ResolvedRef),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  listDeletedRefs: operation({
    operationId: 'listDeletedRefs',
    method: 'GET',
    path: '/repositories/{repository}/deleted_refs',
    tag: 'refs',
    summary: 'List deleted branches and tags that can be brought back',
    requires: deferred(
      'branches need fs:ListBranches, tags fs:ListTags; one of them is enough',
      one('fs:ListBranches', repositoryArn),
    ),
    query: { ...page, type: Type.Optional(loggedRefType), show_hidden: Type.Optional(offFlag) },
    responses: {
      200: json(DeletedRefList),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  undeleteRef: operation({
    operationId: 'undeleteRef',
    method: 'POST',
    idempotent: false,
    path: '/repositories/{repository}/undelete',
    tag: 'refs',
    summary: 'Bring a deleted branch or tag back, without its uncommitted changes',
    requires: deferred(
      'a tag needs fs:CreateTag, and the name may be another one',
      one('fs:CreateBranch', branchArn('body.id')),
    ),
    body: body(UndeleteRequest),
    responses: {
      201: json(UndeletedRef),
      ...errors(400, 401, 403, 404, 409, 410, 412, 429, 'default'),
    },
  }),
  rollbackBranch: operation({
    operationId: 'rollbackBranch',
    method: 'POST',
    idempotent: false,
    path: '/repositories/{repository}/branches/{branch}/rollback',
    tag: 'branches',
    summary: 'Take a branch back to where it stood, by a new commit or by moving its head',
    requires: one('fs:RevertBranch', branchArn('path.branch')),
    body: body(RollbackRequest),
    responses: {
      200: json(RollbackResult),
      ...errors(400, 401, 403, 404, 410, 412, 429, 'default'),
    },
  }),
  getReflogSettings: operation({
    operationId: 'getReflogSettings',
    method: 'GET',
    path: '/repositories/{repository}/settings/reflog',
    tag: 'repositories',
    summary: 'Get how long moves of refs are shown',
    requires: one('fs:ReadRepository', repositoryArn),
    responses: {
      200: json(ReflogSettings),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  setReflogSettings: operation({
    operationId: 'setReflogSettings',
    method: 'PUT',
    idempotent: true,
    path: '/repositories/{repository}/settings/reflog',
    tag: 'repositories',
    summary: 'Set how long moves of refs are shown and deletions can be taken back',
    requires: one('fs:UpdateRepository', repositoryArn),
    body: body(ReflogSettings),
    responses: {
      204: empty(),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
} as const;
