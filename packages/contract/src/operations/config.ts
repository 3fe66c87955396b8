import { errors, json } from '../answers.ts';
import { Config } from '../models/config.ts';
import { operation } from '../operation.ts';
import { authenticated } from '../requirement-template.ts';

export const configOperations = {
  getConfig: operation({
    operationId: 'getConfig',
    method: 'GET',
    path: '/config',
    tag: 'config',
    summary: 'Describe the installation',
    requires: authenticated,
    responses: {
      200: json(Config),
      ...errors(401),
    },
  }),
} as const;
