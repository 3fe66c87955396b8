// Errors are told apart by their class and `kind`, or by a `code` that their maker documents: never by their name or
// their words, which change without anybody noticing. Read from the text of every source file.
import type { SourceFile } from './import-rules.ts';

/** Who has nothing but words to go by. */
export const onlyWords: Readonly<Record<string, string>> = {
  'packages/ui/src/features/shell/layout.tsx': 'browsers tell a failed import by its message only',
  'packages/ui/src/lib/api.ts':
    'the API tells a missing session from a missing permission by its message only',
};

/** `error.name`, `(cause as Error).message`, `this.#failure?.message` … */
const told = String.raw`\b\w*(?:[eE]rr|[eE]rror|[eE]xception|[fF]ailure|[cC]ause|[rR]eason)(?: as \w+\))?\??\.(?:name|message)\b`;

const patterns = [
  // An empty message may be replaced by a better one.
  new RegExp(String.raw`${told}\s*[!=]==?(?!=|\s*(?:undefined|'')[\s;)])`, 'g'),
  new RegExp(String.raw`[!=]==?\s*\(?${told}`, 'g'),
  new RegExp(
    String.raw`${told}\??\.(?:includes|startsWith|endsWith|match|search|indexOf|toLowerCase)\(`,
    'g',
  ),
  new RegExp(String.raw`\.(?:test|exec|has|get)\(\(?${told}\)`, 'g'),
  new RegExp(String.raw`\[\(?${told}\]`, 'g'),
  new RegExp(String.raw`\bswitch\s*\(\(?${told}\)`, 'g'),
  /\.constructor\.name\b/g,
];

/** Lists every place where an error is told by its name or message, as one readable line. */
export function findWordedErrors(files: readonly SourceFile[]): string[] {
  const problems: string[] = [];
  for (const { path, text } of files) {
    if (/\.test\.tsx?$|\/test\/|\/suite\//.test(path) || path in onlyWords) continue;
    for (const pattern of patterns) {
      for (const found of text.matchAll(pattern)) {
        const line = text.slice(0, found.index).split('\n').length;
        problems.push(`${path}:${line}: tell an error by its class and kind, not by \`${found[0].trim()}\``);
      }
    }
  }
  return problems;
}
