// Writes docs/api from the contract.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiDocument } from '../openapi.ts';
import { referencePage } from '../reference.ts';

const root = join(import.meta.dirname, '../../../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
writeFileSync(
  join(root, 'docs/api/openapi.json'),
  `${JSON.stringify(openApiDocument(version), undefined, 2)}\n`,
);
writeFileSync(join(root, 'docs/api/README.md'), referencePage());
