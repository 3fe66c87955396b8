import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openApiDocument, referencePage } from '../src/index.ts';

const root = join(import.meta.dirname, '../../..');

test('docs/api/openapi.json is what the contract emits', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const committed = readFileSync(join(root, 'docs/api/openapi.json'), 'utf8');
  expect(committed, 'stale: run `node packages/contract/src/bin/write-docs.ts` and commit the file').toBe(
    `${JSON.stringify(openApiDocument(version), undefined, 2)}\n`,
  );
});

test('docs/api/README.md lists the operations of the contract', () => {
  const committed = readFileSync(join(root, 'docs/api/README.md'), 'utf8');
  expect(committed, 'stale: run `node packages/contract/src/bin/write-docs.ts` and commit the file').toBe(
    referencePage(),
  );
});
