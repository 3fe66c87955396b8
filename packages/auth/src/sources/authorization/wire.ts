import type { AclPermission, Condition, Group, Policy, Statement, User } from '../../model.ts';
import { isAclPermission } from '../../rbac/acl.ts';
import { failed, isJson, type Json } from './client.ts';

export function readUser(json: Json): User {
  const friendlyName = optional(json['friendly_name']);
  const email = optional(json['email']);
  const externalId = optional(json['external_id']);
  return {
    username: required(json, 'username'),
    createdAt: seconds(json['creation_date']),
    source: optional(json['source']) ?? 'internal',
    ...(friendlyName !== undefined && { friendlyName }),
    ...(email !== undefined && { email }),
    ...(externalId !== undefined && { externalId }),
  };
}

export function readPasswordHash(json: Json): string | undefined {
  const hash = optional(json['encryptedPassword']);
  return hash === undefined ? undefined : Buffer.from(hash, 'base64').toString();
}

export function readGroup(json: Json): Group {
  const description = optional(json['description']);
  return {
    id: optional(json['id']) ?? required(json, 'name'),
    createdAt: seconds(json['creation_date']),
    ...(description !== undefined && { description }),
  };
}

/** A statement that cannot be understood makes the whole answer useless: it may be what denies. */
export function readPolicy(json: Json): Policy {
  const { statement, acl } = json;
  if (!Array.isArray(statement)) throw failed('a policy has no statements');
  const permission = optional(acl);
  return {
    id: required(json, 'name'),
    createdAt: seconds(json['creation_date']),
    statement: statement.map(readStatement),
    ...(permission !== undefined && isAclPermission(permission) && { acl: permission }),
  };
}

export function writePolicy(policy: {
  readonly id: string;
  readonly statement: readonly Statement[];
  readonly acl?: AclPermission;
}): object {
  const { id: name, statement, acl } = policy;
  return { name, statement, ...(acl !== undefined && { acl }) };
}

function readStatement(value: unknown): Statement {
  if (!isJson(value)) throw failed('a statement is no object');
  const { effect, action, resource, condition, principal } = value;
  // Whatever is not "deny" would allow.
  if (effect !== 'allow' && effect !== 'deny') throw failed('a statement neither allows nor denies');
  if (typeof resource !== 'string' || !isTexts(action)) throw failed('a statement lacks actions or resource');
  if (principal !== undefined && !isTexts(principal)) throw failed('a statement has an unknown principal');
  return {
    effect,
    action,
    resource,
    ...(principal !== undefined && { principal }),
    ...(condition !== undefined && condition !== null && { condition: readCondition(condition) }),
  };
}

function readCondition(value: unknown): Condition {
  const isCondition =
    isJson(value) &&
    Object.values(value).every((fields) => isJson(fields) && Object.values(fields).every(isTexts));
  if (!isCondition) throw failed('a statement has an unknown condition');
  return value as Condition;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

export function required(json: Json, name: string): string {
  const text = optional(json[name]);
  if (text === undefined) throw failed(`"${name}" is missing`);
  return text;
}

/** Empty is absent. */
export function optional(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function seconds(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? Math.floor(value) : 0;
}
