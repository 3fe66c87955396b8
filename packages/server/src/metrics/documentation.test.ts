import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { metricsDocument } from './documentation.ts';

test('docs/metrics.md is what a server has; "npm run docs" writes it', async () => {
  const committed = readFileSync(join(import.meta.dirname, '../../../../docs/metrics.md'), 'utf8');
  expect(committed).toBe(await metricsDocument());
});
