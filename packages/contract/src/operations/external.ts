import { bodyShownOptional, errors, json } from '../answers.ts';
import { AuthenticationToken, ExternalLoginInformation } from '../models/auth.ts';
import { operation } from '../operation.ts';
import { open } from '../permission.ts';

export const externalOperations = {
  externalPrincipalLogin: operation({
    operationId: 'externalPrincipalLogin',
    method: 'POST',
    idempotent: false,
    path: '/auth/external/principal/login',
    tag: 'external',
    summary: 'Exchange an external identity for a token',
    inSimplifiedMode: false,
    permission: open,
    body: bodyShownOptional(ExternalLoginInformation),
    responses: {
      200: json(AuthenticationToken),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
} as const;
