import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { operations } from '../src/index.ts';
import type { Operation, OperationRequirement, RequirementLeaf } from '../src/index.ts';

interface Row {
  operation: string;
  method: string;
  path: string;
  action: string;
  resource: string;
}

const rows = JSON.parse(
  readFileSync(join(import.meta.dirname, 'fixtures/endpoint-table.json'), 'utf8'),
) as Row[];

function shape(method: string, path: string): string {
  return `${method} ${path.replaceAll(/\{[^}]+\}/g, '{}')}`;
}

function leaves(requires: OperationRequirement): RequirementLeaf[] {
  switch (requires.type) {
    case 'open':
    case 'authenticated':
      return [];
    case 'one':
    case 'soft':
      return [requires];
    case 'and':
    case 'or':
      return requires.nodes.flatMap(leaves);
    case 'each':
    case 'deferred':
      return leaves(requires.node);
    case 'choose':
      return [...leaves(requires.whenTrue), ...leaves(requires.otherwise)];
  }
}

function resourceKind(resource: string): string {
  if (resource === '*') return '*';
  const kinds = resource
    .slice(resource.lastIndexOf(':') + 1)
    .split('/')
    .filter((part) => !part.includes('{'));
  return kinds.at(-1) ?? '';
}

test('every row of the endpoint table is an operation with that action on that resource', () => {
  const byShape = new Map(
    (Object.values(operations) as Operation[]).map((operation) => [
      shape(operation.method, operation.path),
      operation,
    ]),
  );
  const problems: string[] = [];
  for (const row of rows) {
    const operation = byShape.get(shape(row.method, row.path));
    if (operation === undefined) {
      problems.push(`${row.operation}: no ${row.method} ${row.path}`);
      continue;
    }
    const kind = row.resource === 'destination branch' ? 'branch' : row.resource;
    const found = leaves(operation.requires).some(
      (leaf) => leaf.action === row.action && resourceKind(leaf.resource) === kind,
    );
    if (!found) problems.push(`${row.operation}: ${JSON.stringify(operation.requires)}`);
  }
  expect(problems).toEqual([]);
  expect(rows).toHaveLength(51);
});

test('every placeholder of a requirement names something the operation has', () => {
  const problems: string[] = [];
  for (const operation of Object.values(operations) as Operation[]) {
    for (const { resource } of leaves(operation.requires)) {
      for (const [, place = '', name = ''] of resource.matchAll(/\{(\w+)\.?([\w.]*)\}/g)) {
        const known =
          (place === 'path' && operation.path.includes(`{${name}}`)) ||
          (place === 'query' && name in operation.query) ||
          (place === 'body' && operation.body !== undefined) ||
          place === 'item' ||
          place === 'read';
        if (!known) problems.push(`${operation.operationId}: ${resource}`);
      }
    }
  }
  expect(problems).toEqual([]);
});

test('no two operations share a route', () => {
  const shapes = (Object.values(operations) as Operation[]).flatMap((operation) => [
    shape(operation.method, operation.path),
    ...operation.aliases.map((alias) => shape(operation.method, alias.path)),
  ]);
  expect(new Set(shapes).size).toBe(shapes.length);
});
