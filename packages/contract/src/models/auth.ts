import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Alias } from './aliases.ts';
import { Pagination } from './common.ts';
import { flag, freeObject, int64, integer, text, textOf } from './values.ts';

export const User = Type.Object(
  {
    id: text,
    creation_date: int64,
    friendly_name: Type.Optional(text),
    email: Type.Optional(text),
  },
  { title: 'User' },
);

export const CurrentUser = Type.Object(
  {
    user: User,
    /** With `rights=true`: the actions of administration that the caller may take on something. */
    rights: Type.Optional(Type.Array(text)),
  },
  { title: 'CurrentUser' },
);

export const UserCreation = Type.Object(
  {
    id: text,
    invite_user: Type.Optional(flag),
  },
  { title: 'UserCreation' },
);

export const UserList = Type.Object(
  {
    pagination: Pagination,
    results: Type.Array(User),
  },
  { title: 'UserList' },
);

export const Group = Type.Object(
  {
    id: text,
    name: Type.Optional(text),
    description: Type.Optional(text),
    creation_date: int64,
  },
  { title: 'Group' },
);

export const GroupCreation = Type.Object(
  {
    id: text,
    description: Type.Optional(text),
  },
  { title: 'GroupCreation' },
);

export const GroupList = Type.Object(
  {
    pagination: Pagination,
    results: Type.Array(Group),
  },
  { title: 'GroupList' },
);

export const PolicyCondition = Type.Unsafe<Record<string, string[]>>({
  title: 'PolicyCondition',
  type: 'object',
  additionalProperties: { type: 'array', items: { type: 'string' } },
});

export const Statement = Type.Object(
  {
    effect: textOf(['allow', 'deny']),
    resource: text,
    action: Type.Array(text, { minItems: 1 }),
    condition: Type.Optional(
      Type.Unsafe<Record<string, Static<typeof PolicyCondition>>>({
        type: 'object',
        additionalProperties: PolicyCondition,
      }),
    ),
    principal: Type.Optional(Type.Array(textOf(['anonymous']), { minItems: 1, maxItems: 1 })),
  },
  { title: 'Statement' },
);

export const Policy = Type.Object(
  {
    id: text,
    creation_date: Type.Optional(int64),
    statement: Type.Array(Statement, { minItems: 1 }),
  },
  { title: 'Policy' },
);

export const PolicyList = Type.Object(
  {
    pagination: Pagination,
    results: Type.Array(Policy),
  },
  { title: 'PolicyList' },
);

export const SimulationRequest = Type.Object(
  {
    user: text,
    action: text,
    resource: text,
    source_ip: Type.Optional(text),
    policy: Type.Optional(Policy),
  },
  { title: 'SimulationRequest' },
);

export const DecidingStatement = Type.Object(
  {
    policy: text,
    index: integer,
    statement: Statement,
  },
  { title: 'DecidingStatement' },
);

export const SimulatedPolicy = Type.Object(
  {
    id: text,
    attached_to_user: flag,
    groups: Type.Array(text),
  },
  { title: 'SimulatedPolicy' },
);

export const Simulation = Type.Object(
  {
    allowed: flag,
    message: Type.Optional(text),
    reason: textOf(['allowed', 'denied', 'not_allowed']),
    decided_by: Type.Optional(DecidingStatement),
    policies: Type.Array(SimulatedPolicy),
    hidden_policies: integer,
  },
  { title: 'Simulation' },
);

export const ACL = Type.Object(
  {
    permission: text,
  },
  { title: 'ACL' },
);

export const ErrorNoACL = Type.Object(
  {
    message: text,
    no_acl: Type.Optional(flag),
  },
  { title: 'ErrorNoACL' },
);

export const Credentials = Type.Object(
  {
    access_key_id: text,
    creation_date: int64,
    view: Type.Optional(Alias),
  },
  { title: 'Credentials' },
);

export const CredentialsList = Type.Object(
  {
    pagination: Pagination,
    results: Type.Array(Credentials),
  },
  { title: 'CredentialsList' },
);

export const CredentialsWithSecret = Type.Object(
  {
    access_key_id: text,
    secret_access_key: text,
    creation_date: int64,
    view: Type.Optional(Alias),
  },
  { title: 'CredentialsWithSecret' },
);

export const Session = Type.Object(
  {
    id: text,
    creation_date: int64,
    expiration_date: int64,
    source_ip: text,
    client: text,
    access_key_id: Type.Optional(text),
    current: flag,
  },
  { title: 'Session' },
);

export const SessionList = Type.Object(
  {
    pagination: Pagination,
    results: Type.Array(Session),
  },
  { title: 'SessionList' },
);

export const AuthCapabilities = Type.Object(
  {
    invite_user: Type.Optional(flag),
    forgot_password: Type.Optional(flag),
  },
  { title: 'AuthCapabilities' },
);

export const LoginInformation = Type.Object(
  {
    access_key_id: text,
    secret_access_key: text,
  },
  { title: 'LoginInformation' },
);

export const AuthenticationToken = Type.Object(
  {
    token: text,
    token_expiration: Type.Optional(int64),
  },
  { title: 'AuthenticationToken' },
);

export const StsAuthRequest = Type.Object(
  {
    code: text,
    state: text,
    redirect_uri: text,
    ttl_seconds: Type.Optional(int64),
  },
  { title: 'StsAuthRequest' },
);

export const ExternalLoginInformation = Type.Object(
  {
    token_expiration_duration: Type.Optional(integer),
    identityRequest: freeObject,
  },
  { title: 'ExternalLoginInformation' },
);

export const ExternalPrincipalSettings = Type.Unsafe<Record<string, string>>({
  title: 'ExternalPrincipalSettings',
  type: 'object',
  additionalProperties: { type: 'string' },
});

export const ExternalPrincipalCreation = Type.Object(
  {
    settings: Type.Optional(freeObject),
  },
  { title: 'ExternalPrincipalCreation' },
);

export const ExternalPrincipal = Type.Object(
  {
    id: text,
    user_id: text,
    settings: Type.Optional(freeObject),
  },
  { title: 'ExternalPrincipal' },
);

export const ExternalPrincipalList = Type.Object(
  {
    pagination: Pagination,
    results: Type.Array(ExternalPrincipal),
  },
  { title: 'ExternalPrincipalList' },
);

export const ForgotPasswordRequest = Type.Object({ email: text }, { title: 'ForgotPasswordRequest' });

export const UpdatePasswordByToken = Type.Object(
  { token: text, newPassword: text, email: Type.Optional(text) },
  { title: 'UpdatePasswordByToken' },
);
