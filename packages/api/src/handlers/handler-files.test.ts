import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { operationGroups } from '@svc/contract';
import { expect, test } from 'vitest';
import { stubEngine } from '../../test/stub-engine.ts';
import type { ApiOptions } from '../options.ts';

const contractFiles = fileURLToPath(new URL('operations', import.meta.resolve('@svc/contract')));

function namesIn(folder: string): string[] {
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  return files
    .map(({ name }) => name.replace(/\.ts$/, ''))
    .filter((name) => name !== 'index' && !name.endsWith('.test'))
    .toSorted();
}

test('every file of the contract has its file of handlers, and no other file is beside them', () => {
  expect(namesIn(contractFiles)).toEqual(Object.keys(operationGroups).toSorted());
  expect(namesIn(import.meta.dirname)).toEqual(namesIn(contractFiles));
});

test.each(Object.entries(operationGroups))(
  '%s: the handlers are those of its contract',
  async (name, group) => {
    const module = (await import(join(import.meta.dirname, `${name}.ts`))) as Record<
      string,
      (options: ApiOptions) => object
    >;
    const options = { engine: stubEngine(), auth: {}, installation: () => ({}) } as unknown as ApiOptions;
    const handlers = Object.values(module).flatMap((handlersOf) => Object.keys(handlersOf(options)));
    expect(handlers.toSorted()).toEqual(Object.keys(group).toSorted());
  },
);
