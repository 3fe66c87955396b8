import {
  timestampFromMillis,
  type CredentialData,
  type GroupData,
  type PolicyData,
  type StatementData,
  type UserData,
} from '@svc/encoding';
import type { AclPermission, Condition, Credentials, Group, Policy, Statement, User } from '../model.ts';

export function userFrom(data: UserData): User {
  return {
    username: data.username,
    createdAt: secondsOf(data.createdAt),
    source: data.source === '' ? 'internal' : data.source,
    ...(data.friendlyName === '' ? {} : { friendlyName: data.friendlyName }),
    ...(data.email === '' ? {} : { email: data.email }),
    ...(data.externalId === '' ? {} : { externalId: data.externalId }),
    ...(data.tokensValidAfter === 0 ? {} : { tokensValidAfter: data.tokensValidAfter }),
  };
}

export function groupFrom(data: GroupData): Group {
  return {
    id: data.displayName,
    createdAt: secondsOf(data.createdAt),
    ...(data.description === '' ? {} : { description: data.description }),
  };
}

export function policyFrom(data: PolicyData): Policy {
  const permission = data.acl?.permission ?? '';
  return {
    id: data.displayName,
    createdAt: secondsOf(data.createdAt),
    statement: data.statements.map(statementFrom),
    ...(permission === '' ? {} : { acl: permission as AclPermission }),
  };
}

export function policyData(
  policy: Omit<Policy, 'createdAt'>,
  createdAt: PolicyData['createdAt'],
): PolicyData {
  return {
    createdAt,
    displayName: policy.id,
    statements: policy.statement.map(statementData),
    acl:
      policy.acl === undefined
        ? undefined
        : { permission: policy.acl, allRepositories: true, repositories: [] },
  };
}

export function credentialsFrom(data: CredentialData): Credentials {
  return {
    accessKeyId: data.accessKeyId,
    issuedAt: secondsOf(data.issuedDate),
    username: Buffer.from(data.userId).toString(),
    hasView: data.hasView,
  };
}

/** The current moment as records keep it. */
export function storedTime(clock: () => number): ReturnType<typeof timestampFromMillis> {
  return timestampFromMillis(clock());
}

function secondsOf(time: { readonly seconds: number } | undefined): number {
  return time?.seconds ?? 0;
}

function statementFrom(data: StatementData): Statement {
  const operators = Object.entries(data.condition);
  const statement = {
    effect: data.effect,
    action: data.action,
    resource: data.resource,
    ...(data.principal.length === 0 ? {} : { principal: data.principal }),
  };
  if (operators.length === 0) return statement;
  const condition: Condition = Object.fromEntries(
    operators.map(([operator, { fields }]) => [
      operator,
      Object.fromEntries(Object.entries(fields).map(([field, { values }]) => [field, values])),
    ]),
  );
  return { ...statement, condition };
}

function statementData(statement: Statement): StatementData {
  const condition = Object.fromEntries(
    Object.entries(statement.condition ?? {}).map(([operator, fields]) => [
      operator,
      {
        fields: Object.fromEntries(
          Object.entries(fields).map(([field, values]) => [field, { values: [...values] }]),
        ),
      },
    ]),
  );
  return {
    effect: statement.effect,
    action: [...statement.action],
    resource: statement.resource,
    condition,
    principal: [...(statement.principal ?? [])],
  };
}
