import { body, errors, json } from '../answers.ts';
import { ObjectStats } from '../models/objects.ts';
import { StagingLocation, StagingMetadata } from '../models/staging.ts';
import { operation } from '../operation.ts';
import { condition, objectPath, presign } from '../parameters.ts';
import { and, deferred, namespaceArn, objectArn, one, soft } from '../permission.ts';

export const stagingOperations = {
  getPhysicalAddress: operation({
    operationId: 'getPhysicalAddress',
    method: 'GET',
    path: '/repositories/{repository}/branches/{branch}/staging/backing',
    tag: 'staging',
    summary: 'Get an address to which a client may write an object itself',
    permission: one('fs:WriteObject', objectArn('query.path')),
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
    permission: and(
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
} as const;
