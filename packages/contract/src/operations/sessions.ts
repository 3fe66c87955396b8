import { empty, errors, json } from '../answers.ts';
import { SessionList } from '../models/auth.ts';
import { operation } from '../operation.ts';
import { after, amount } from '../parameters.ts';
import { authenticated, one, userArn } from '../requirement-template.ts';

const lists = one('auth:ListSessions', userArn('path.userId'));
const ends = one('auth:EndSessions', userArn('path.userId'));
const responses = { 204: empty(), ...errors(400, 401, 404, 429, 'default') };

export const sessionsOperations = {
  listOwnSessions: operation({
    operationId: 'listOwnSessions',
    method: 'GET',
    path: '/user/sessions',
    tag: 'auth',
    summary: 'List the sessions of the user who makes the request',
    requires: authenticated,
    query: { after, amount },
    responses: { 200: json(SessionList), ...errors(400, 401, 429, 'default') },
  }),
  endOwnSessions: operation({
    operationId: 'endOwnSessions',
    method: 'DELETE',
    idempotent: true,
    path: '/user/sessions',
    tag: 'auth',
    summary: 'Log out everywhere',
    requires: authenticated,
    responses,
  }),
  endOwnSession: operation({
    operationId: 'endOwnSession',
    method: 'DELETE',
    idempotent: true,
    path: '/user/sessions/{sessionId}',
    tag: 'auth',
    summary: 'End one session of the user who makes the request',
    requires: authenticated,
    responses,
  }),
  listUserSessions: operation({
    operationId: 'listUserSessions',
    method: 'GET',
    path: '/auth/users/{userId}/sessions',
    tag: 'auth',
    summary: 'List the sessions of a user',
    requires: lists,
    query: { after, amount },
    responses: { 200: json(SessionList), ...errors(400, 401, 404, 429, 'default') },
  }),
  endUserSessions: operation({
    operationId: 'endUserSessions',
    method: 'DELETE',
    idempotent: true,
    path: '/auth/users/{userId}/sessions',
    tag: 'auth',
    summary: 'End all sessions of a user',
    requires: ends,
    responses,
  }),
  endUserSession: operation({
    operationId: 'endUserSession',
    method: 'DELETE',
    idempotent: true,
    path: '/auth/users/{userId}/sessions/{sessionId}',
    tag: 'auth',
    summary: 'End one session of a user',
    requires: ends,
    responses,
  }),
} as const;
