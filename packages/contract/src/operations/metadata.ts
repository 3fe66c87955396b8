import { errors, json } from '../answers.ts';
import { StorageURI } from '../models/common.ts';
import { hashId } from '../models/values.ts';
import { operation } from '../operation.ts';
import { and, one, repositoryArn } from '../requirement-template.ts';

export const metadataOperations = {
  getMetaRange: operation({
    operationId: 'getMetaRange',
    method: 'GET',
    path: '/repositories/{repository}/metadata/meta_range/{meta_range}',
    tag: 'metadata',
    summary: 'Locate a metarange file',
    requires: and(one('fs:ListObjects', repositoryArn), one('fs:ReadRepository', repositoryArn)),
    params: { meta_range: hashId },
    responses: {
      200: json(StorageURI, ['Location']),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
  getRange: operation({
    operationId: 'getRange',
    method: 'GET',
    path: '/repositories/{repository}/metadata/range/{range}',
    tag: 'metadata',
    summary: 'Locate a range file',
    requires: and(one('fs:ListObjects', repositoryArn), one('fs:ReadRepository', repositoryArn)),
    params: { range: hashId },
    responses: {
      200: json(StorageURI, ['Location']),
      ...errors(400, 401, 404, 429, 'default'),
    },
  }),
} as const;
