import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { gatewayOperations } from '../src/index.ts';

/** Operations that have no name on S3: ways to answer, or parts of another one. */
const unnamed: ReadonlySet<string> = new Set([
  'getObjectVersioning',
  'noSuchObject',
  'putBranchMarker',
  'unsupported',
]);

it('the page about S3 names every operation of the gateway, and no other', () => {
  const page = readFileSync(new URL('../../../docs/s3.md', import.meta.url), 'utf8');
  const [, section = ''] = /## Operations\n(.*?)\n## /s.exec(page) ?? [];
  const named = [...section.matchAll(/^\| ([A-Z]\w+) \|/gm)]
    .map(([, name]) => name)
    .filter((name) => name !== 'Operation');
  const served = Object.keys(gatewayOperations)
    .filter((name) => !unnamed.has(name))
    .map((name) => name.charAt(0).toUpperCase() + name.slice(1));
  expect(new Set(named)).toEqual(new Set(served));
});
