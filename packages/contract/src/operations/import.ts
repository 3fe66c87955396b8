import { body, empty, errors, json } from '../answers.ts';
import { ImportCreation, ImportCreationResponse, ImportStatus } from '../models/imports.ts';
import { text } from '../models/values.ts';
import { operation } from '../operation.ts';
import { and, branchArn, each, namespaceArn, objectArn, one } from '../requirement-template.ts';

export const importOperations = {
  importStatus: operation({
    operationId: 'importStatus',
    method: 'GET',
    path: '/repositories/{repository}/branches/{branch}/import',
    tag: 'import',
    summary: 'Follow an import',
    requires: one('fs:ReadBranch', branchArn('path.branch')),
    query: { id: text },
    responses: {
      200: json(ImportStatus),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  importStart: operation({
    operationId: 'importStart',
    method: 'POST',
    idempotent: false,
    path: '/repositories/{repository}/branches/{branch}/import',
    tag: 'import',
    summary: 'Import objects of the object store without copying them',
    requires: and(
      one('fs:WriteObject', branchArn('path.branch')),
      one('fs:CreateCommit', branchArn('path.branch')),
      each(
        'paths',
        and(
          one('fs:ImportFromStorage', namespaceArn('item.path')),
          one('fs:WriteObject', objectArn('item.destination')),
        ),
      ),
    ),
    body: body(ImportCreation),
    responses: {
      202: json(ImportCreationResponse),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
  importCancel: operation({
    operationId: 'importCancel',
    method: 'DELETE',
    idempotent: true,
    path: '/repositories/{repository}/branches/{branch}/import',
    tag: 'import',
    summary: 'Cancel an import',
    requires: one('fs:ImportCancel', branchArn('path.branch')),
    query: { id: text },
    responses: {
      204: empty(),
      ...errors(400, 401, 403, 404, 409, 429, 'default'),
    },
  }),
} as const;
