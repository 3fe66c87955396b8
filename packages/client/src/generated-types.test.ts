import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { renderTypes } from './bin/render-types.ts';

test('the generated types are those of docs/api/openapi.json', async () => {
  const document: unknown = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../../docs/api/openapi.json'), 'utf8'),
  );
  const committed = readFileSync(join(import.meta.dirname, 'generated/api.ts'), 'utf8');
  expect(committed, 'stale: run `node packages/client/src/bin/generate-types.ts` and commit the file').toBe(
    await renderTypes(document),
  );
});
