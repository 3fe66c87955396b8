import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { operations, type Operation, type OperationRequirement } from '@svc/contract';
import { expect, test } from 'vitest';
import { gatewayMatrix } from './authorization-matrix-gateway.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/security.md'), 'utf8');

/** The actions of the page's table, with the kinds of resources they are asked on. */
function describedActions(): Record<string, string> {
  const rows = page.matchAll(/^\| `([a-z]+:[A-Za-z]+)` \| ([^|]+) \| [^|]{5,} \|$/gm);
  return Object.fromEntries(
    [...rows].map(([, action = '', kinds = '']) => [action, sorted(kinds.split(', '))]),
  );
}

function sorted(kinds: Iterable<string>): string {
  return [...new Set(kinds)].toSorted().join(', ');
}

/** What the code asks for: every action of the contract and of the gateway. */
function askedActions(): Record<string, string> {
  const kinds = new Map<string, string[]>();
  const note = (action: string, kind: string): void => {
    kinds.set(action, [...(kinds.get(action) ?? []), kind]);
  };
  const walk = (node: OperationRequirement): void => {
    if (node.type === 'one' || node.type === 'soft') note(node.action, kindOf(node.resource));
    if (node.type === 'and' || node.type === 'or') node.nodes.forEach(walk);
    if (node.type === 'each' || node.type === 'deferred') walk(node.node);
    if (node.type === 'choose') [node.whenTrue, node.otherwise].forEach(walk);
  };
  for (const { requires } of Object.values<Operation>(operations)) walk(requires);
  const letters: Record<string, string> = { R: 'repository', O: 'object', '*': 'everything' };
  for (const { requires } of Object.values(gatewayMatrix))
    for (const [, action = '', letter = ''] of requires.matchAll(/([a-z]+:[A-Za-z]+)@([RO*])/g))
      note(action, letters[letter] ?? letter);
  return Object.fromEntries([...kinds].map(([action, list]) => [action, sorted(list)]));
}

/** The last name in an ARN: what a statement would have to name. */
function kindOf(resource: string): string {
  if (resource === '*') return 'everything';
  const names = resource.split(':::')[1]?.split('/') ?? [];
  return names.at(-2) ?? resource;
}

test('docs/security.md says of every action what it allows, and of no other', () => {
  expect(describedActions()).toEqual(askedActions());
});
