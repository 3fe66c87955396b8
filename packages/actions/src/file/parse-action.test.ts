import { expect, test } from 'vitest';
import { ActionFileError } from './action.ts';
import { parseAction } from './parse-action.ts';

function refusal(text: string): string {
  try {
    parseAction(text);
    return 'accepted';
  } catch (error) {
    expect(error).toBeInstanceOf(ActionFileError);
    const { line, message } = error as ActionFileError;
    return `${line}: ${message}`;
  }
}

const hook = (id: string, more = 'type: webhook\n    properties: {url: "http://x"}'): string =>
  `  - id: ${id}\n    ${more}\n`;
const file = (hooks: string): string => `name: a b\non:\n  pre-commit:\nhooks:\n${hooks}`;

test('a whole action', () => {
  const action = parseAction(`
name: 12
description: what it does
unknown: {key: 1}
on:
  pre-merge:
    branches: [main, 7, 'dev-*']
  post-create-tag:
hooks:
  - id: first_one
    type: lua
    if: true
    properties:
      script: print(1)
      args: {n: 1, on: yes}
---
name: [never, read]
`);
  expect(action.name).toBe('12');
  expect([...action.on]).toEqual([
    ['pre-merge', ['main', '7', 'dev-*']],
    ['post-create-tag', []],
  ]);
  expect(action.hooks).toEqual([
    {
      id: 'first_one',
      type: 'lua',
      description: '',
      condition: 'true',
      properties: { script: 'print(1)', args: { n: 1, on: 'yes' } },
    },
  ]);
  expect(parseAction('name: xy\non: {pre-commit: null}\n').hooks).toEqual([]);
});

test.each([
  ['', "1: 'name' is required: invalid action"],
  ['on: {pre-commit: }', "1: 'name' is required: invalid action"],
  ['\nname: x', "2: 'name' is invalid: invalid action"],
  ['name: "-x"', "1: 'name' is invalid: invalid action"],
  ['name: xy', "1: 'on' is required: invalid action"],
  ['name: xy\non: {}', "2: 'on' is required: invalid action"],
  ['name: xy\non:\n  pre-revert-branch:', "3: event 'pre-revert-branch' is not supported: invalid action"],
  [
    'name: xy\non:\n  pre-create-tag:\n    branches: [main]',
    "4: 'branches' is not supported in tag event types. invalid event parameter",
  ],
  [file(hook('a')), '5: hook[0] missing ID: invalid action'],
  [file(`  - type: lua\n`), '5: hook[0] missing ID: invalid action'],
  [file(hook('a'.repeat(257))), '5: hook[0] missing ID: invalid action'],
  [file(hook('aa') + hook('aa')), "8: hook[1] duplicate ID 'aa': invalid action"],
  [file(hook('aa', 'type: contract')), "6: hook[0] type 'aa' unknown: invalid action"],
  [file(hook('aa', 'description: none')), "5: hook[0] type 'aa' unknown: invalid action"],
  [file(hook('aa', 'type: lua')), "5: hook[0] type 'lua': missing hook properties: invalid action"],
  [
    file(hook('aa', 'type: lua\n    properties: {script_file: x}')),
    "7: hook[0] type 'lua': 'script' or 'script_path' must be supplied in properties: invalid action",
  ],
  [
    file(hook('aa', 'type: airflow\n    properties: {url: x, username: u, password: p}')),
    "7: hook[0] type 'airflow': 'dag_id' must be supplied in properties: invalid action",
  ],
  [
    'name: xy\non:\n  pre-commit:\n    branches: main',
    "4: yaml: line 4: 'on.pre-commit.branches' must be a list",
  ],
  ['just text', '1: yaml: line 1: the file must be a map'],
  ['name: xy\nname: yz', '2: yaml: line 2: Map keys must be unique'],
  ['name: "x', expect.stringMatching(/^1: yaml: line 1: /)],
  ['a: &a [1]\nb: [*a, *c]', expect.stringMatching(/yaml: line \d: Unresolved alias/)],
])('%j is refused with its line', (text, message) => {
  expect(refusal(text)).toEqual(message);
});

test('ids of 2 and of 256 characters', () => {
  expect(refusal(file(hook('a_')))).toBe('accepted');
  expect(refusal(file(hook('a'.repeat(256))))).toBe('accepted');
});

test('aliases cannot be made to grow without measure', () => {
  const lines = ['name: xy', 'on: {pre-commit: }', 'a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let level = 1; level < 12; level += 1) {
    lines.push(
      `a${level}: &a${level} [${Array(10)
        .fill(`*a${level - 1}`)
        .join(', ')}]`,
    );
  }
  expect(refusal(lines.join('\n'))).toMatch(/^1: yaml: line 1: Excessive alias count/);
});
