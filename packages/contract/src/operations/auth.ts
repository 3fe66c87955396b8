import { Type } from 'typebox';
import { body, bodyShownOptional, empty, errors, json } from '../answers.ts';
import {
  AuthenticationToken,
  CurrentUser,
  ExternalLoginInformation,
  ForgotPasswordRequest,
  LoginInformation,
  StsAuthRequest,
  UpdatePasswordByToken,
} from '../models/auth.ts';
import { offFlag } from '../models/values.ts';
import { operation } from '../operation.ts';
import { authenticated, open } from '../requirement-template.ts';

export const authOperations = {
  getCurrentUser: operation({
    operationId: 'getCurrentUser',
    method: 'GET',
    path: '/user',
    tag: 'auth',
    summary: 'Get the user who makes the request',
    requires: authenticated,
    query: { rights: Type.Optional(offFlag) },
    responses: {
      200: json(CurrentUser),
      ...errors(401),
    },
  }),
  login: operation({
    operationId: 'login',
    method: 'POST',
    idempotent: false,
    path: '/auth/login',
    tag: 'auth',
    summary: 'Exchange an access key or a password for a token',
    requires: open,
    body: bodyShownOptional(LoginInformation),
    responses: {
      200: json(AuthenticationToken, ['Set-Cookie']),
      ...errors(400, 401, 429, 'default'),
    },
  }),
  forgotPassword: operation({
    operationId: 'forgotPassword',
    method: 'POST',
    idempotent: false,
    path: '/auth/password/forgot',
    tag: 'auth',
    summary: 'Send a mail with a link that sets a new password',
    requires: open,
    body: body(ForgotPasswordRequest),
    responses: {
      204: empty(),
      ...errors(400, 429, 501, 'default'),
    },
  }),
  updatePassword: operation({
    operationId: 'updatePassword',
    method: 'POST',
    idempotent: false,
    path: '/auth/password',
    tag: 'auth',
    summary: 'Set a new password with the token of a mail',
    requires: open,
    body: body(UpdatePasswordByToken),
    responses: {
      201: empty(),
      ...errors(400, 401, 429, 501, 'default'),
    },
  }),
  oauthCallback: operation({
    operationId: 'oauthCallback',
    method: 'GET',
    path: '/oidc/callback',
    tag: 'auth',
    summary: 'Finish a login at the identity provider',
    requires: open,
    responses: {
      302: empty(),
      401: empty(),
      ...errors('default'),
    },
  }),
  stsLogin: operation({
    operationId: 'stsLogin',
    method: 'POST',
    idempotent: false,
    path: '/sts/login',
    tag: 'experimental',
    summary: 'Exchange an authorization code for a short-lived token',
    experimental: true,
    requires: open,
    body: body(StsAuthRequest),
    responses: {
      200: json(AuthenticationToken),
      ...errors(400, 401, 429, 'default'),
    },
  }),
  externalPrincipalLogin: operation({
    operationId: 'externalPrincipalLogin',
    method: 'POST',
    idempotent: false,
    path: '/auth/external/principal/login',
    tag: 'external',
    summary: 'Exchange an external identity for a token',
    inSimplifiedMode: false,
    requires: open,
    body: bodyShownOptional(ExternalLoginInformation),
    responses: {
      200: json(AuthenticationToken),
      ...errors(400, 401, 403, 404, 429, 'default'),
    },
  }),
} as const;
