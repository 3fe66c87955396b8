import { empty } from '../answers.ts';
import { operation } from '../operation.ts';
import { open } from '../permission.ts';

export const healthCheckOperations = {
  healthCheck: operation({
    operationId: 'healthCheck',
    method: 'GET',
    path: '/healthcheck',
    tag: 'healthCheck',
    summary: 'Tell that the server answers',
    permission: open,
    responses: {
      204: empty(),
    },
  }),
} as const;
