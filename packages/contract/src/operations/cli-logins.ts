import { body, errors, json } from '../answers.ts';
import {
  CliLogin,
  CliLoginApproval,
  CliLoginProof,
  CliLoginResult,
  CliLoginStart,
} from '../models/cli-logins.ts';
import { operation } from '../operation.ts';
import { authenticated, open } from '../requirement-template.ts';

export const cliLoginsOperations = {
  beginCliLogin: operation({
    operationId: 'beginCliLogin',
    method: 'POST',
    idempotent: false,
    path: '/auth/cli/logins',
    tag: 'auth',
    summary: 'Begin the login of a command-line program that a person approves in a browser',
    requires: open,
    body: body(CliLoginStart),
    responses: { 201: json(CliLogin), ...errors(400, 429, 'default') },
  }),
  getCliLogin: operation({
    operationId: 'getCliLogin',
    method: 'GET',
    path: '/auth/cli/logins/{login}',
    tag: 'auth',
    summary: 'Get a login that waits for an approval',
    requires: authenticated,
    responses: { 200: json(CliLogin), ...errors(401, 404, 429, 'default') },
  }),
  approveCliLogin: operation({
    operationId: 'approveCliLogin',
    method: 'POST',
    idempotent: false,
    path: '/auth/cli/logins/{login}/approve',
    tag: 'auth',
    summary: 'Let a command-line program act for the user whose browser asks',
    requires: authenticated,
    responses: { 200: json(CliLoginApproval), ...errors(401, 403, 404, 429, 'default') },
  }),
  finishCliLogin: operation({
    operationId: 'finishCliLogin',
    method: 'POST',
    idempotent: false,
    path: '/auth/cli/logins/{login}/token',
    tag: 'auth',
    summary: 'Get the token of an approved login, once',
    requires: open,
    body: body(CliLoginProof),
    responses: { 200: json(CliLoginResult), ...errors(400, 404, 429, 'default') },
  }),
} as const;
