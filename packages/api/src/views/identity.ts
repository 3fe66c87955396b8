import type { Binding } from '@svc/engine';
import type {
  Credentials,
  CredentialsWithSecret,
  ExternalPrincipal,
  Group,
  Policy,
  SessionInfo,
  Statement,
  User,
} from '@svc/auth';
import { aliasView } from './alias.ts';

export function userView(user: User) {
  return {
    id: user.username,
    creation_date: user.createdAt,
    friendly_name: user.friendlyName ?? '',
    email: user.email ?? '',
  };
}

export function groupView(group: Group) {
  return {
    id: group.id,
    name: group.id,
    description: group.description,
    creation_date: group.createdAt,
  };
}

export function policyView(policy: Policy) {
  return {
    id: policy.id,
    creation_date: policy.createdAt,
    statement: policy.statement.map(statementView),
  };
}

export function statementView({ effect, action, resource, condition, principal }: Statement) {
  return {
    effect: effect as 'allow' | 'deny',
    action,
    resource,
    condition,
    principal: principal as 'anonymous'[] | undefined,
  };
}

export function credentialsView(credentials: Credentials, view?: Binding) {
  return {
    access_key_id: credentials.accessKeyId,
    creation_date: credentials.issuedAt,
    view: view === undefined ? undefined : aliasView(view),
  };
}

export function credentialsWithSecretView(credentials: CredentialsWithSecret, view?: Binding) {
  return {
    access_key_id: credentials.accessKeyId,
    secret_access_key: credentials.secretAccessKey,
    creation_date: credentials.issuedAt,
    view: view === undefined ? undefined : aliasView(view),
  };
}

export function sessionView(session: SessionInfo, isCurrent: boolean) {
  return {
    id: session.id,
    creation_date: session.beganAt,
    expiration_date: session.expiresAt,
    source_ip: session.ip,
    client: session.agent,
    access_key_id: session.accessKeyId,
    current: isCurrent,
  };
}

export function externalPrincipalView(principal: ExternalPrincipal) {
  return { id: principal.id, user_id: principal.username };
}
