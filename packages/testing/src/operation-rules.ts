// Facts about operations are fields of the operations: those of the API in the contract, those of S3 in the gateway's
// table. Finds the places where a protocol decides by the name of an operation, or by the absence of a field, instead.
import type { SourceFile } from './import-rules.ts';

const protocols = /^packages\/(?:api|gateway)\/src\//;
/** Where operations are implemented or told apart by their requests: names belong there. */
const mayNameOperations = [
  /^packages\/api\/src\/handlers\//,
  /^packages\/gateway\/src\/operations\//,
  /^packages\/gateway\/src\/routing\/(?:operations|route)\.ts$/,
];

const comments = /\/\*[\s\S]*?\*\/|(?<=^|[\s;{}(,])\/\/[^\n]*/g;
const anOperation = String.raw`(?:[\w#.]+\.)?#?\w*[oO]peration`;
const anId = String.raw`(?:[\w#.]+\.)?(?:operationId|operation\.id)`;

interface Rule {
  readonly found: RegExp;
  readonly problem: string;
}

const everywhere: readonly Rule[] = [
  {
    found: new RegExp(String.raw`['"\`]\w+['"\`] in ${anOperation}\b|hasOwn\(\s*${anOperation}\b`, 'g'),
    problem: 'tests an operation for the presence of a field; give every operation the field',
  },
  {
    found: new RegExp(
      String.raw`${anId}\s*[!=]==?|[!=]==?\s*${anId}\b|switch \(${anId}\)|\w\[${anId}\]|\.(?:has|get|includes)\(${anId}\)`,
      'g',
    ),
    problem: 'decides by the id of an operation; make it a fact of the operation',
  },
];

/** Lists every broken rule as one readable line. `operationIds` are the ids of the contract. */
export function findDecisionsByName(files: readonly SourceFile[], operationIds: readonly string[]): string[] {
  // An id of one word, such as `commit`, is an ordinary word elsewhere.
  const ids = operationIds.filter((id) => /[a-z][A-Z]/.test(id)).join('|');
  const outsideTables: readonly Rule[] = [
    {
      found: new RegExp(String.raw`\b[oO]perations\.(?!ts\b)\w+`, 'g'),
      problem: 'asks for one operation by name; make what is asked a fact of the operation',
    },
    {
      found: new RegExp(String.raw`['"\`](?:${ids})['"\`]|(?<=^\s*(?:async )?)(?:${ids})(?=[:(])`, 'gm'),
      problem: 'names an operation of the API; make what is decided a fact of the operation',
    },
  ];
  const problems: string[] = [];
  for (const { path, text } of files) {
    if (!protocols.test(path) || path.endsWith('.test.ts')) continue;
    // Comments keep their lines, so that the numbers stay right.
    const code = text.replaceAll(comments, (comment) => comment.replaceAll(/[^\n]/g, ' '));
    const named = mayNameOperations.some((place) => place.test(path));
    for (const { found, problem } of named ? everywhere : [...everywhere, ...outsideTables]) {
      for (const match of code.matchAll(found)) {
        const line = code.slice(0, match.index).split('\n').length;
        problems.push(`${path}:${line}: "${match[0]}" ${problem}`);
      }
    }
  }
  return problems;
}
