import { basePath } from './openapi.ts';
import type { Operation } from './operation.ts';
import { operations } from './operations.ts';
import type { OperationRequirement, RequirementTemplate } from './requirement-template.ts';

/** The reference page: every operation by subject, with what it requires. */
export function referencePage(): string {
  const byTag = new Map<string, Operation[]>();
  for (const operation of Object.values(operations) as Operation[]) {
    const list = byTag.get(operation.tag) ?? [];
    byTag.set(operation.tag, list);
    list.push(operation);
  }
  const sections = [...byTag]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([tag, list]) => [`## ${tag}`, '', ...table(list), ''].join('\n'));
  return [
    '# HTTP API',
    '',
    `Base path \`${basePath}\`. The machine-readable description is [openapi.json](openapi.json); a running server`,
    'serves it at `/openapi.json`. Requests and answers are JSON unless said otherwise; every refusal is',
    '`{"message": "…"}`. Lists take `prefix`, `after` and `amount` (at most 1000) and answer',
    '`{"pagination": {…}, "results": […]}`; pass `pagination.next_offset` as the next `after`.',
    '',
    'Callers authenticate with `Authorization: Basic` (access key and secret), `Authorization: Bearer` (a token of',
    '`POST /auth/login`) or a session cookie. A missing permission is 401 and names the action.',
    '',
    ...sections,
  ].join('\n');
}

function table(list: readonly Operation[]): string[] {
  const rows = list.map((operation) => {
    const paths = [operation.path, ...operation.aliases.map((alias) => alias.path)];
    const marks = [operation.deprecated && 'deprecated', operation.experimental && 'experimental'];
    const noted = marks.filter((mark) => mark !== false).join(', ');
    const summary = noted === '' ? operation.summary : `${operation.summary} (${noted})`;
    const routes = paths.map((path) => `\`${operation.method} ${path}\``).join('<br>');
    return `| ${routes} | ${summary} | ${requirementText(operation.requires)} |`;
  });
  return ['| Request | Does | Requires |', '|---|---|---|', ...rows];
}

function requirementText(requires: OperationRequirement): string {
  if (requires.type === 'open') return 'nothing';
  if (requires.type === 'authenticated') return 'any user';
  return templateText(requires);
}

function templateText(node: RequirementTemplate): string {
  switch (node.type) {
    case 'one':
      return `\`${node.action}\` on \`${shown(node.resource)}\``;
    case 'soft':
      return `\`${node.action}\` not denied on \`${shown(node.resource)}\``;
    case 'and':
      return node.nodes.map(templateText).join('; ');
    case 'or':
      return node.nodes.map(templateText).join(' or ');
    case 'each':
      return `for each of \`${node.of}\`: ${templateText(node.node)}`;
    case 'choose':
      return `${templateText(node.otherwise)}; with \`${node.query}=true\` ${templateText(node.whenTrue)}`;
    case 'deferred':
      return `${templateText(node.node)} (${node.reason})`;
  }
}

/** Readers care which value a resource contains, not where in the request it comes from. */
function shown(resource: string): string {
  return resource.replaceAll(/\{(?:path|query|body|item|read)\.?([\w.]*)\}/g, (_all, name: string) =>
    name === '' ? '{path}' : `{${name}}`,
  );
}
