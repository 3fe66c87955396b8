// Writes src/generated/api.ts from docs/api/openapi.json.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderTypes } from './render-types.ts';

const root = join(import.meta.dirname, '../../../..');
const document: unknown = JSON.parse(readFileSync(join(root, 'docs/api/openapi.json'), 'utf8'));
writeFileSync(join(import.meta.dirname, '../generated/api.ts'), await renderTypes(document));
