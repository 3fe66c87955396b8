// Finds every line that a server logs, in the sources themselves.
import { parseAst } from 'rolldown/parseAst';
import type { SourceFile } from './import-rules.ts';

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: readonly string[];
  readonly part: string;
}

interface Node {
  readonly type: string;
  readonly [name: string]: unknown;
}

const levels = ['error', 'warn', 'info', 'debug', 'trace'];
/** Packages that log nowhere, or not as a server does. */
const others = new Set(['bench', 'cli', 'client', 'testing', 'ui']);

export function findLogLines(files: readonly SourceFile[]): LogLine[] {
  return files
    .filter(({ path }) => /^packages\/\w+\/src\//.test(path) && !path.endsWith('.test.ts'))
    .filter(({ path }) => !others.has(path.split('/')[1] ?? ''))
    .filter(({ text }) => /[lL]ogger/.test(text))
    .flatMap(({ path, text }) => {
      const found: LogLine[] = [];
      walk(parseAst(text, { lang: 'ts' }) as unknown as Node, (node) => {
        const line = lineOf(node, path.split('/')[1] ?? '');
        if (line !== undefined) found.push(line);
      });
      return found;
    });
}

function walk(node: Node, visit: (node: Node) => void): void {
  visit(node);
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? (value as unknown[]) : [value])
      if (isNode(child)) walk(child, visit);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}

/** A call such as `logger.warn({ error }, 'the message')`. */
function lineOf(node: Node, part: string): LogLine | undefined {
  const { callee } = node as { callee?: Node };
  if (node.type !== 'CallExpression' || callee?.type !== 'MemberExpression') return undefined;
  const level = nameOf(callee['property'] as Node);
  if (!levels.includes(level) || !/logger$/i.test(nameOf(callee['object'] as Node))) return undefined;
  const [fields, message] = node['arguments'] as (Node | undefined)[];
  const text = message === undefined ? '' : textOf(message);
  return text === '' ? undefined : { level, message: text, fields: fieldsOf(fields), part };
}

function nameOf(node: Node): string {
  return typeof node['name'] === 'string'
    ? node['name']
    : isNode(node['property'])
      ? nameOf(node['property'])
      : '';
}

/** What changes from line to line is shown as an ellipsis. */
function textOf(node: Node): string {
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? node['value'] : '';
  if (node.type === 'TemplateLiteral') {
    const parts = node['quasis'] as { readonly value: { readonly cooked: string } }[];
    return parts.map(({ value }) => value.cooked).join('…');
  }
  if (node.type === 'ConditionalExpression')
    return `${textOf(node['consequent'] as Node)} / ${textOf(node['alternate'] as Node)}`;
  return '';
}

function fieldsOf(node: Node | undefined): string[] {
  if (node?.type !== 'ObjectExpression') return [];
  return (node['properties'] as Node[])
    .filter(({ type }) => type === 'Property')
    .map((property) => nameOf(property['key'] as Node))
    .filter((name) => name !== '');
}

const introduction = `# Log lines

<!-- Generated from the code by "npm run docs"; change the code, not this file. -->

One line is one event, as \`key=value\` or, with \`logging.format: json\`, as JSON. Every line has \`time\`, \`level\`, \`msg\`,
\`file\` and \`func\` (where it was written); those of a request have its \`request_id\`, which the caller got as
\`X-Request-ID\`. No line holds a secret. \`logging.level\` chooses how much is written and can be changed while a server runs.

Each request ends in a line at \`logging.audit_log_level\` (\`HTTP call ended\`) with method, path, status, time, user and
client. \`debug\` and \`trace\` show more for whoever looks for a mistake. What changes from line to line is an ellipsis here.
`;

/** The reference of all lines, the most severe first. */
export function logLinesDocument(files: readonly SourceFile[]): string {
  const lines = findLogLines(files);
  const sections = levels.map((level) => {
    const rows = lines
      .filter((line) => line.level === level)
      .map(({ message, fields, part }) => {
        const shown = fields.map((field) => `\`${field}\``).join(', ');
        return `| ${message.replaceAll('|', '\\|').replaceAll('\n', ' ')} | ${shown === '' ? '–' : shown} | ${part} |`;
      });
    if (rows.length === 0) return '';
    const unique = [...new Set(rows)].sort();
    return `\n## ${level}\n\n| Message | Fields | Part |\n|---|---|---|\n${unique.join('\n')}\n`;
  });
  return `${introduction}${sections.join('')}`;
}
