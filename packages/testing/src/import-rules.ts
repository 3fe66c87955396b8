// Holds the import rules of ARCHITECTURE.md, read from the real import statements of every source file.
import { dirname, relative, resolve } from 'node:path';

/** What each package may import of ours; of some only one entry (`actions/file`). Tests may also import `testing` and a package's exported suite. */
export const allowedImports: Record<string, readonly string[]> = {
  encoding: [],
  patterns: [],
  sstable: ['encoding'],
  kv: ['encoding'],
  block: ['encoding'],
  engine: ['encoding', 'patterns', 'sstable', 'kv', 'block'],
  auth: ['encoding', 'kv'],
  contract: [],
  http: [],
  outgoing: [],
  actions: ['encoding', 'kv', 'block', 'engine', 'outgoing', 'metastore'],
  events: ['encoding', 'kv', 'outgoing'],
  api: ['contract', 'engine', 'auth', 'http', 'actions', 'events'],
  gateway: ['encoding', 'engine', 'auth', 'http'],
  iceberg: ['engine', 'auth', 'http'],
  metastore: ['encoding'],
  client: ['contract'],
  server: [
    'encoding',
    'sstable',
    'kv',
    'block',
    'engine',
    'auth',
    'outgoing',
    'actions',
    'events',
    'contract',
    'api',
    'gateway',
    'iceberg',
    'client',
  ],
  cli: ['encoding', 'client', 'sstable', 'metastore', 'actions/file'],
  ui: ['client', 'patterns'],
  testing: [],
};

/** What tests of a package may import besides: they put a protocol on top of real stores. */
const testImports: Record<string, readonly string[]> = {
  api: ['kv', 'block', 'client'],
  gateway: ['kv', 'block'],
  iceberg: ['kv', 'block', 'gateway'],
  events: ['engine', 'block'],
};

/** Folders whose sub-folders or files are alternatives of one contract and must not know each other. */
const alternatives = [{ folder: 'packages/kv/src/drivers' }, { folder: 'packages/block/src/adapters' }];

export const importPattern =
  /(?:^|[\n;])\s*(?:import|export)\s(?:[^'";]*?\sfrom\s)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

export interface SourceFile {
  path: string;
  text: string;
}

/** Lists every broken rule as one readable line. */
export function findBrokenImports(files: readonly SourceFile[]): string[] {
  const problems: string[] = [];
  for (const file of files) {
    const [, owner] = file.path.split('/');
    if (owner === undefined || !file.path.startsWith('packages/')) continue;
    const isTest = /\.test\.tsx?$|\.bench\.ts$|\/test\/|\/suite\//.test(file.path);
    const allowed = allowedImports[owner];
    if (allowed === undefined) {
      problems.push(`${file.path}: package "${owner}" is not in the import table`);
      continue;
    }
    for (const match of file.text.matchAll(importPattern)) {
      const target = match[1] ?? match[2];
      if (target === undefined) continue;
      if (target.startsWith('@svc/')) {
        const name = target.split('/')[1] ?? '';
        if (name === owner || allowed.includes(name) || allowed.includes(target.slice('@svc/'.length)))
          continue;
        if (isTest && (name === 'testing' || testImports[owner]?.includes(name) === true)) continue;
        problems.push(`${file.path}: "${owner}" must not import "${target}"`);
      } else if (target.startsWith('.')) {
        const resolved = relative('/', resolve('/', dirname(file.path), target));
        if (!resolved.startsWith(`packages/${owner}/`)) {
          problems.push(`${file.path}: reaches into another package by path ("${target}")`);
        }
        for (const { folder } of alternatives) {
          if (!file.path.startsWith(`${folder}/`) || !resolved.startsWith(`${folder}/`) || isTest) continue;
          const own = file.path
            .slice(folder.length + 1)
            .split('/')[0]
            ?.replace(/\.ts$/, '');
          const other = resolved
            .slice(folder.length + 1)
            .split('/')[0]
            ?.replace(/\.ts$/, '');
          if (own !== other) problems.push(`${file.path}: one driver must not import another ("${target}")`);
        }
      }
    }
  }
  return problems;
}
