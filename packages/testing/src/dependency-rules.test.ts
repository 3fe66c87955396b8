import { expect, test } from 'vitest';
import { findDependencyProblems, type PackageManifest } from './dependency-rules.ts';

const root = { devDependencies: { vitest: '1.0.0' } };

function problemsOf(
  manifest: Omit<PackageManifest, 'name'>,
  files: Record<string, string>,
  isBundled = false,
): string[] {
  return findDependencyProblems(
    {
      manifestPath: 'packages/kv/package.json',
      manifest: { name: '@svc/kv', ...manifest },
      files: Object.entries(files).map(([path, text]) => ({ path: `packages/kv/${path}`, text })),
      isBundled,
    },
    root,
  );
}

test('a package that lists what it imports is fine', () => {
  const manifest = { dependencies: { pg: '1.0.0' }, devDependencies: { '@types/pg': '1.0.0' } };
  const files = {
    'src/a.ts': "import { Client } from 'pg';\nimport { join } from 'node:path';\nimport './b.ts';",
    'src/a.test.ts': "import { test } from 'vitest';",
  };
  expect(problemsOf(manifest, files)).toEqual([]);
});

test('a listed dependency that nothing imports is found', () => {
  expect(problemsOf({ dependencies: { 'lru-cache': '1.0.0' } }, { 'src/a.ts': '' })).toEqual([
    'packages/kv/package.json: nothing in the package uses "lru-cache"',
  ]);
});

test.each([
  "import { x } from 'lmdb/sub';",
  "export * from '@scope/lmdb';",
  "import type { X } from 'lmdb';",
])('an import that is not listed is found: %s', (text) => {
  expect(problemsOf({}, { 'src/a.ts': text })).toHaveLength(1);
});

test('production code must not rely on what is installed for development', () => {
  const manifest = { devDependencies: { pg: '1.0.0' } };
  const files = { 'src/a.ts': "import { Client } from 'pg';" };
  expect(problemsOf(manifest, files)).toEqual([expect.stringContaining('for development only')]);
  expect(problemsOf(manifest, files, true)).toEqual([]);
  expect(problemsOf(manifest, { 'src/a.test.ts': "import { Client } from 'pg';" })).toEqual([]);
});
