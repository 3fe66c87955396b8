import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../../..');
const docs = join(root, 'docs');

/** Written from the code, with a usage line for each command. */
const generated = new Set(['cli.md', 'configuration.md', 'metrics.md', 'logs.md', 'api/README.md']);
const pages = globSync('**/*.md', { cwd: docs }).filter((page) => !generated.has(page));
const testFiles = new Set(
  globSync('packages/*/{src,test}/**/*.test.ts', { cwd: root }).map((file) => basename(file)),
);

interface Fence {
  readonly mark: string | undefined;
  readonly language: string;
  readonly code: string;
}

function fencesOf(page: string): Fence[] {
  const text = readFileSync(join(docs, page), 'utf8');
  return [...text.matchAll(/(?:^<!-- ([^\n]*) -->\n)?^```(\w*)\n(.*?)^```$/gms)].map(
    ([, mark, language = '', code = '']) => ({ mark, language, code }),
  );
}

describe('blocks of the documentation', () => {
  it.each(pages)('are run, or say why they are not: %s', (page) => {
    const silent = fencesOf(page)
      .filter(({ language }) => !['yaml', 'json', 'text'].includes(language))
      .filter(({ mark = '' }) => !/^(run: \w+|file: \S+|prints|not run: .{10,})$/.test(mark))
      .map(({ language, code }) => `\`\`\`${language}: ${code.split('\n', 1)[0]}`);
    expect(silent).toEqual([]);
  });

  it.each(pages)('name tests that exist: %s', (page) => {
    const named = fencesOf(page).flatMap(({ mark = '' }) => mark.match(/[\w-]+(?:\.\w+)*\.test\.ts/g) ?? []);
    expect(named.filter((name) => !testFiles.has(name))).toEqual([]);
  });
});

/** Flags by command, as the reference has them. */
function commands(): ReadonlyMap<string, ReadonlySet<string>> {
  const reference = readFileSync(join(docs, 'cli.md'), 'utf8');
  const flagsIn = (text: string): string[] => text.match(/(?<![\w-])--?[a-zA-Z][\w-]*/g) ?? [];
  const [, globals = ''] = /## Global flags\n(.*?)\n## /s.exec(reference) ?? [];
  return new Map(
    reference
      .split(/^### (?=svcctl )/m)
      .slice(1)
      .map((section) => {
        const [name = ''] = section.split('\n', 1);
        return [name, new Set([...flagsIn(section), ...flagsIn(globals), '--help'])];
      }),
  );
}

describe('commands of the documentation', () => {
  const known = commands();
  const lines = ['../README.md', ...pages].flatMap((page) =>
    fencesOf(page)
      .filter(({ language }) => language === 'sh')
      .flatMap(({ code }) =>
        code
          .replaceAll('\\\n', ' ')
          .replaceAll(/ # .*$/gm, '')
          .split('\n'),
      )
      .flatMap((line) =>
        [...line.matchAll(/(?<![\w/.-])svcctl ([a-z][^|;)>&#]*)/g)].map(([, words = '']) => words.trim()),
      )
      .map((words) => [page, words] as const),
  );

  function problemOf(line: string): string | undefined {
    const words = line.replaceAll(/"[^"]*"|'[^']*'/g, 'quoted').split(/\s+/);
    const length = [4, 3, 2, 1].find((count) => known.has(`svcctl ${words.slice(0, count).join(' ')}`));
    if (length === undefined) return 'no such command';
    const flags = known.get(`svcctl ${words.slice(0, length).join(' ')}`);
    const given = words.slice(length).filter((word) => /^--?[a-z]/.test(word));
    return given.find((flag) => flags?.has(flag.split('=')[0] ?? '') !== true);
  }

  it('exist, with the flags they are given', () => {
    expect(lines.length).toBeGreaterThan(50);
    const problems = lines.flatMap(([page, line]) => {
      const problem = problemOf(line);
      return problem === undefined ? [] : [`${page}: svcctl ${line}: ${problem}`];
    });
    expect(problems).toEqual([]);
  });
});
