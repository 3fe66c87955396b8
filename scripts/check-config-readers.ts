// Every configuration key has a reader or says why it has none. The compiler knows who reads what: a property
// access that resolves to the key's declaration in the schema is a reader. The folder of the configuration itself
// does not count: checking, printing and documenting a key does not make it do anything.
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import {
  isBindingElement,
  isObjectLiteralExpression,
  isPropertyAssignment,
} from 'typescript/unstable/ast/is';
import type { Node } from 'typescript/unstable/ast';
import { API, type Checker, type Symbol } from 'typescript/unstable/sync';
import { configKeys, ignoredReason, type ConfigKey } from '../packages/cli/src/config/keys.ts';
import { namedKeys } from '../packages/server/src/config/schema.ts';
import { findUnreadKeys } from '../packages/testing/src/key-rules.ts';
import { readSources } from './sources.ts';

const root = join(import.meta.dirname, '..');
const configFolder = join(root, 'packages', 'server', 'src', 'config');
const schemaFolder = join(configFolder, 'schema');
/** Reads keys for others: which store is configured, and how. */
const readingConfigFiles = [join(configFolder, 'stores.ts')];

interface DeclaredKey {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly marked: boolean;
}

/** What tells declarations apart; for a name taken out of an object (`{ type }`), the member's declaration. */
function declarationsOf(checker: Checker, symbol: Symbol | undefined): string[] {
  if (symbol === undefined) return [];
  const variable = symbol.valueDeclaration?.resolve();
  if (variable !== undefined && isBindingElement(variable)) {
    const taken = checker.getTypeAtLocation(variable.parent);
    return taken === undefined ? [] : declarationsOf(checker, checker.getPropertyOfType(taken, symbol.name));
  }
  return symbol.declarations.map((declaration) => `${declaration.path}:${declaration.index}`);
}

/** The dotted name of a member as far as its object literal tells. */
function writtenName(member: Node): string {
  let name = '';
  for (let node = member; isPropertyAssignment(node); node = node.parent.parent) {
    name = node.name.getText() + (name === '' ? '' : `.${name}`);
    if (!isObjectLiteralExpression(node.parent)) break;
  }
  return name;
}

const allKeys = namedKeys().flatMap(({ name, key }) => [
  { name, key },
  ...(key.items === undefined ? [] : namedKeys(key.items, `${name}.`)),
]);

function isMarked(name: string): boolean {
  const keys = allKeys.filter((key) => key.name === name || key.name.endsWith(`.${name}`));
  return keys.every(({ key }) => key.ignored !== undefined || key.unavailable !== undefined);
}

const api = new API({ cwd: root });
try {
  const snapshot = api.updateSnapshot({ openProject: join(root, 'tsconfig.json') });
  const project = snapshot.getProject(join(root, 'tsconfig.json'));
  if (project === undefined) throw new Error('the compiler did not open tsconfig.json');
  const { program, checker } = project;
  const files = program.getSourceFileNames().filter((name) => name.includes('/packages/'));

  const declared = new Map<string, DeclaredKey>();
  const names = new Set<string>();
  for (const file of files.filter((name) => name.startsWith(schemaFolder))) {
    const source = readFileSync(file, 'utf8');
    const keys = [...source.matchAll(/^\s+(\w+): (?:[a-z][A-Za-z]*)\(/gm)];
    const positions = keys.map((key) => key.index + key[0].indexOf(key[1] ?? ''));
    for (const [index, symbol] of checker.getSymbolAtPosition(file, positions).entries()) {
      const [id] = declarationsOf(checker, symbol);
      const node = symbol?.valueDeclaration?.resolve();
      if (id === undefined || node === undefined) continue;
      const name = writtenName(node);
      names.add(keys[index]?.[1] ?? '');
      declared.set(id, {
        name,
        file: relative(root, file),
        line: source.slice(0, positions[index]).split('\n').length,
        marked: isMarked(name),
      });
    }
  }

  const readers = new Map<string, string>();
  const access = new RegExp(`(?<=[.{,]\\s*)\\b(?:${[...names].join('|')})\\b`, 'g');
  for (const file of files) {
    if (!/\/src\//.test(file) || file.endsWith('.test.ts')) continue;
    if (file.startsWith(configFolder) && !readingConfigFiles.includes(file)) continue;
    const source = readFileSync(file, 'utf8');
    const positions = [...source.matchAll(access)].map((found) => found.index);
    if (positions.length === 0) continue;
    for (const symbol of checker.getSymbolAtPosition(file, positions)) {
      for (const id of declarationsOf(checker, symbol)) {
        if (declared.has(id) && !readers.has(id)) readers.set(id, relative(root, file));
      }
    }
  }

  const problems: string[] = [];
  for (const [id, key] of declared) {
    const where = `${key.file}:${key.line}`;
    if (!readers.has(id) && !key.marked) problems.push(`${where}: nothing reads ${key.name}`);
    if (readers.has(id) && key.marked)
      problems.push(`${where}: ${key.name} is marked as without effect, but ${readers.get(id)} reads it`);
  }
  // The command-line tool asks for its keys by name.
  const cliKeys = Object.keys(configKeys).map((name) => ({
    name,
    ignored: ignoredReason(name as ConfigKey),
  }));
  const cliSources = readSources('packages/cli/src').filter(({ path }) => !path.endsWith('.test.ts'));
  problems.push(
    ...findUnreadKeys(cliKeys, cliSources).map((problem) => `packages/cli/src/config/keys.ts: ${problem}`),
  );

  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else
    console.log(
      `${declared.size + cliKeys.length} configuration keys have a reader or say why they have none`,
    );
} finally {
  api.close();
}
