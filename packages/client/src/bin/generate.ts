// Writes src/generated from docs/api/openapi.json.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderActions } from './render-actions.ts';
import { renderFacts } from './render-facts.ts';
import { renderTypes } from './render-types.ts';

const root = join(import.meta.dirname, '../../../..');
const generated = join(import.meta.dirname, '../generated');
const document: unknown = JSON.parse(readFileSync(join(root, 'docs/api/openapi.json'), 'utf8'));
writeFileSync(join(generated, 'api.ts'), await renderTypes(document));
writeFileSync(join(generated, 'idempotent-writes.ts'), renderFacts(document));
writeFileSync(join(generated, 'policy-actions.ts'), renderActions(document));
