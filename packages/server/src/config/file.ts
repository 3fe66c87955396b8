import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument, visit } from 'yaml';
import type { RawValue } from './key.ts';
import { ConfigFileError } from './config-file-error.ts';

/** The first existing file of the lookup order. */
export function findConfigFile(
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): string | undefined {
  const home = env['HOME'] ?? '';
  const candidates = [
    join(cwd, 'config.yaml'),
    ...(home === '' ? [] : [join(home, 'svc', 'config.yaml')]),
    '/etc/svc/config.yaml',
    ...(home === '' ? [] : [join(home, '.svc.yaml')]),
  ];
  return candidates.find((candidate) => existsSync(candidate));
}

const plainNulls = new Set(['', '~', 'null', 'Null', 'NULL']);

/** Reads a YAML file with every scalar as its text: `0123` and `1e3` stay what the user wrote. */
export function readConfigFile(path: string): Readonly<Record<string, RawValue>> {
  let source: string;
  try {
    source = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigFileError(`cannot read the configuration file ${path}: ${(error as Error).message}`);
  }
  const document = parseDocument(source, { schema: 'failsafe', merge: true });
  const [problem] = document.errors;
  if (problem !== undefined) {
    throw new ConfigFileError(`the configuration file ${path} is not valid YAML: ${problem.message.trim()}`);
  }
  visit(document, {
    Scalar(_, node) {
      if (node.type === 'PLAIN' && plainNulls.has(node.source ?? '')) node.value = null;
    },
  });
  const tree: unknown = document.toJS();
  if (tree === null || tree === undefined || tree === '') return {};
  if (typeof tree !== 'object' || Array.isArray(tree)) {
    throw new ConfigFileError(`the configuration file ${path} must hold a map of keys`);
  }
  return withoutNulls(tree as Record<string, unknown>);
}

function withoutNulls(tree: Readonly<Record<string, unknown>>): Record<string, RawValue> {
  const result: Record<string, RawValue> = {};
  for (const [name, value] of Object.entries(tree)) {
    if (value === null) continue;
    result[name] = plain(value);
  }
  return result;
}

function plain(value: unknown): RawValue {
  if (Array.isArray(value)) return value.filter((item) => item !== null).map((item: unknown) => plain(item));
  if (typeof value === 'object' && value !== null) return withoutNulls(value as Record<string, unknown>);
  return String(value);
}
