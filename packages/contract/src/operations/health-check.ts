import { empty } from '../answers.ts';
import { operation } from '../operation.ts';
import { open } from '../requirement-template.ts';

export const healthCheckOperations = {
  healthCheck: operation({
    operationId: 'healthCheck',
    method: 'GET',
    path: '/healthcheck',
    tag: 'healthCheck',
    summary: 'Tell that the server answers',
    requires: open,
    responses: {
      204: empty(),
    },
  }),
} as const;
