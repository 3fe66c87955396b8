import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { renderActions } from './bin/render-actions.ts';
import { renderFacts } from './bin/render-facts.ts';
import { renderTypes } from './bin/render-types.ts';

const document: unknown = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../docs/api/openapi.json'), 'utf8'),
);

test.each([
  ['api.ts', renderTypes],
  ['idempotent-writes.ts', renderFacts],
  ['policy-actions.ts', renderActions],
])('generated/%s is that of docs/api/openapi.json', async (file, render) => {
  const committed = readFileSync(join(import.meta.dirname, 'generated', file), 'utf8');
  expect(committed, 'stale: run `node packages/client/src/bin/generate.ts` and commit the file').toBe(
    await render(document),
  );
});
