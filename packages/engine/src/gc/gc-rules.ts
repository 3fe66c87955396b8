import { buffer } from 'node:stream/consumers';
import { BlockError, type ObjectPointer } from '@svc/block';
import { gcRulesMessage } from '@svc/encoding';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { invalid, notFound } from '../context/refusals.ts';
import type { GcRules } from '../face/gc.ts';
import { checkBranchName } from '../names/names.ts';
import { checkNotReadOnly } from '../protection/writable.ts';
import type { RepositoryScope } from '../store/scope.ts';

const maxDays = 0x7fff_ffff;

/** The rules, or undefined when there are none: a missing object, or an empty one left by a deletion. */
export async function findGcRules(
  context: EngineContext,
  scope: RepositoryScope,
): Promise<GcRules | undefined> {
  const adapter = adapterOf(context, scope);
  let bytes: Buffer;
  try {
    const body = await adapter.get(rulesPointer(scope));
    bytes = body.bytes ?? (await buffer(body.stream()));
  } catch (error) {
    if (error instanceof BlockError && error.kind === 'not_found') return undefined;
    throw error;
  }
  if (bytes.length === 0) return undefined;
  const { defaultRetentionDays, branchRetentionDays } = gcRulesMessage.decode(bytes);
  const branches = Object.entries(branchRetentionDays).map(([branch, retentionDays]) => ({
    branch,
    retentionDays,
  }));
  return { defaultRetentionDays, branches };
}

export async function getGcRules(context: EngineContext, repository: string): Promise<GcRules> {
  const scope = await context.repositories.open(repository);
  const rules = await findGcRules(context, scope);
  if (rules === undefined) throw notFound('rules');
  return rules;
}

export async function setGcRules(context: EngineContext, repository: string, rules: GcRules): Promise<void> {
  const scope = await context.repositories.open(repository);
  checkNotReadOnly(scope, false);
  checkRules(rules);
  const branchRetentionDays: Record<string, number> = Object.create(null) as Record<string, number>;
  for (const { branch, retentionDays } of rules.branches) branchRetentionDays[branch] = retentionDays;
  const value = gcRulesMessage.encode({
    defaultRetentionDays: rules.defaultRetentionDays,
    branchRetentionDays,
  });
  await adapterOf(context, scope).put(rulesPointer(scope), value);
}

/** Deleted rules are an empty object: a store without delete permission can express it too. */
export async function deleteGcRules(context: EngineContext, repository: string): Promise<void> {
  const scope = await context.repositories.open(repository);
  checkNotReadOnly(scope, false);
  await adapterOf(context, scope).put(rulesPointer(scope), Buffer.alloc(0));
}

export function checkRules(rules: GcRules): void {
  checkDays('default_retention_days', rules.defaultRetentionDays);
  for (const { branch, retentionDays } of rules.branches) {
    checkBranchName(branch, 'branch_id');
    checkDays(`retention_days of branch ${branch}`, retentionDays);
  }
}

function checkDays(name: string, days: number): void {
  if (Number.isInteger(days) && days >= 0 && days <= maxDays) return;
  throw invalid(
    `argument ${name}: invalid value: validation error: ${days} is not a number of days`,
    'rules',
  );
}

function rulesPointer(scope: RepositoryScope): ObjectPointer {
  return {
    storageNamespace: scope.repository.storageNamespace,
    identifier: `${scope.committed.metadataPrefix}/retention/gc/rules/config.json`,
    identifierType: 'relative',
  };
}
