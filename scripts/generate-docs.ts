// Writes the parts of docs/ that are generated from the code that implements them.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commandReference } from '@svc/cli';
import { configurationDocument, metricsDocument } from '@svc/server';
import { logLinesDocument } from '../packages/testing/src/log-lines.ts';
import { readSources } from './sources.ts';

const docs = join(import.meta.dirname, '..', 'docs');
await mkdir(docs, { recursive: true });
await writeFile(join(docs, 'configuration.md'), configurationDocument());
console.log('docs/configuration.md');
await writeFile(join(docs, 'metrics.md'), await metricsDocument());
console.log('docs/metrics.md');
await writeFile(join(docs, 'logs.md'), logLinesDocument(readSources('packages')));
console.log('docs/logs.md');
await writeFile(join(docs, 'cli.md'), await commandReference());
console.log('docs/cli.md');

// The API's reference and description, then the client's types, which follow from the description.
await import('../packages/contract/src/bin/write-docs.ts');
await import('../packages/client/src/bin/generate.ts');
console.log('docs/api');
