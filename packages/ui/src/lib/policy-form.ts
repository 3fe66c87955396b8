import { policyActions } from '@svc/client';
import type { Statement } from './api.ts';

/** Every action, after the wildcards that stand for many. */
export const actionChoices: readonly string[] = [
  ...[...new Set(policyActions.map((action) => action.split(':')[0] ?? ''))].map((service) => `${service}:*`),
  'fs:List*',
  'fs:Read*',
  ...policyActions,
];

/** Resources to begin with; each repository has its own objects, branches and tags. */
export function resourceChoices(repositories: readonly string[]): string[] {
  const repository = (name: string): string[] => {
    const root = `arn:svc:fs:::repository/${name}`;
    return [root, `${root}/*`, `${root}/object/*`, `${root}/branch/*`, `${root}/tag/*`];
  };
  return [
    '*',
    'arn:svc:fs:::repository/*',
    'arn:svc:fs:::alias/*',
    'arn:svc:fs:::namespace/*',
    'arn:svc:auth:::user/${user}',
    'arn:svc:auth:::user/*',
    'arn:svc:auth:::group/*',
    'arn:svc:auth:::policy/*',
    ...repositories.flatMap(repository),
  ];
}

/** Several resources are kept as a JSON list in one text. */
export function resourcesOf({ resource }: Pick<Statement, 'resource'>): string[] {
  if (!resource.startsWith('[')) return resource === '' ? [] : [resource];
  try {
    return JSON.parse(resource) as string[];
  } catch {
    // Not a list after all: it is shown as it is.
    return [resource];
  }
}

export function withResources(statement: Statement, resources: readonly string[]): Statement {
  const [only = ''] = resources;
  return { ...statement, resource: resources.length > 1 ? JSON.stringify(resources) : only };
}

export const newStatement: Statement = { effect: 'allow', action: ['fs:ReadObject'], resource: '*' };

export function policyText(statement: readonly Statement[]): string {
  return `${JSON.stringify({ statement }, null, 2)}\n`;
}
