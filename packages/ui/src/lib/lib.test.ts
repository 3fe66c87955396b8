import { expect, test } from 'vitest';
import { ancestryOf, graphWidth, layOutGraph } from './commit-graph.ts';
import { parseCsv } from './csv.ts';
import { fileKind } from './file-kind.ts';
import { formatBytes, formatRelative, formatTime } from './format.ts';
import { findFiles } from './find-files.ts';
import { changesIn, markChanges } from './listing.ts';
import { checkMetadata, toMetadata } from './metadata-rules.ts';
import { needsFullLoad, safeNext } from './next-path.ts';
import { compareUtf8, crumbsOf, parentOf, resolvePath } from './paths.ts';
import { parsePolicy } from './policy-text.ts';
import { rulesFor } from './protection.ts';
import { cliConfig, listSnippets, readSnippets, shellQuote } from './snippets.ts';
import {
  asTextQuery,
  defaultQuery,
  isNumericType,
  isQuery,
  jsonArrayOf,
  prepareSql,
  splitStatements,
} from './sql-files.ts';

const origin = 'https://svc.example';

test('after login only places of this origin are followed', () => {
  for (const bad of [
    undefined,
    '',
    '//evil.example/x',
    '/\\evil.example',
    'https://evil.example',
    'javascript:alert(1)',
    '/',
    '/auth/login?next=/x',
    'x',
  ]) {
    expect(safeNext(bad, origin)).toBe('/repositories');
  }
  expect(safeNext(' /repositories/a/objects?ref=b#c ', origin)).toBe('/repositories/a/objects?ref=b#c');
  expect(needsFullLoad('/api/v1/auth/get-token/release-token/abc')).toBe(true);
});

test('paths compare as their UTF-8 bytes', () => {
  const names = ['a', 'a/b', 'b', 'é', 'z', '\u{FFFD}', '🙂', ''];
  const bytes = (text: string): Buffer => Buffer.from(text);
  expect(names.toSorted(compareUtf8)).toEqual(names.toSorted((a, b) => Buffer.compare(bytes(a), bytes(b))));
});

test('folders of a path, also of odd ones', () => {
  expect(crumbsOf('a/b/c.txt')).toEqual([
    { name: 'a', prefix: 'a/' },
    { name: 'b', prefix: 'a/b/' },
    { name: 'c.txt', prefix: 'a/b/c.txt' },
  ]);
  expect(crumbsOf('//x').map(({ prefix }) => prefix)).toEqual(['/', '//', '//x']);
  expect(parentOf('a/b/')).toBe('a/');
  expect(resolvePath('docs/a.md', '../img/x.png')).toBe('img/x.png');
  expect(resolvePath('docs/a.md', '/top.png')).toBe('top.png');
});

test('a removed object is shown once, on the page it was on', () => {
  const listed = [
    { path: 'a', path_type: 'object' as const },
    { path: 'c', path_type: 'object' as const },
  ];
  const changes = [
    { path: 'a', path_type: 'object' as const, type: 'changed' as const },
    { path: 'b', path_type: 'object' as const, type: 'removed' as const },
    { path: 'z', path_type: 'object' as const, type: 'removed' as const },
  ];
  const marks = (rows: readonly { path: string; mark?: string | undefined }[]): string[] =>
    rows.map(({ path, mark }) => `${path} ${mark ?? ''}`);
  expect(marks(markChanges(listed, changes, { after: '', until: 'c' }))).toEqual([
    'a changed',
    'b removed',
    'c ',
  ]);
  expect(marks(markChanges([], changes, { after: 'c', until: undefined }))).toEqual(['z removed']);
});

test('the changes of a branch are those of a folder: of its objects, and one for each folder in it', () => {
  const change = (path: string) => ({ path, path_type: 'object', type: 'added' }) as const;
  const changes = ['a.txt', 'a/b', 'a/c', 'a/d/e', 'a/d/f', 'ab/x', 'b'].map(change);
  const paths = (prefix: string) => changesIn(prefix, changes).map(({ path, type }) => `${path} ${type}`);
  expect(paths('')).toEqual(['a.txt added', 'a/ prefix_changed', 'ab/ prefix_changed', 'b added']);
  expect(paths('a/')).toEqual(['a/b added', 'a/c added', 'a/d/ prefix_changed']);
  expect(paths('c/')).toEqual([]);
});

test('metadata keys are required and unique', () => {
  const pairs = [
    { key: ' ', value: '' },
    { key: 'a', value: '1' },
    { key: 'a ', value: '2' },
  ];
  expect(checkMetadata(pairs).map((error) => error?.split(';')[0])).toEqual([
    'A key is required',
    undefined,
    'This key is already used',
  ]);
  expect(toMetadata([{ key: ' k ', value: 'v' }])).toEqual({ k: 'v' });
});

test('the graph keeps the first parent straight and joins branches', () => {
  const rows = layOutGraph([
    { id: 'm', parents: ['b', 's'] },
    { id: 's', parents: ['a'] },
    { id: 'b', parents: ['a'] },
    { id: 'a', parents: [] },
  ]);
  expect(rows.map(({ lane }) => lane)).toEqual([0, 1, 0, 0]);
  expect(rows[0]?.edges).toEqual([
    { from: 0, to: 0, starts: true },
    { from: 0, to: 1, starts: true },
  ]);
  expect(rows[0]?.merge).toBe(true);
  expect(rows[3]?.edges).toEqual([]);
  expect(graphWidth(rows)).toBe(2);
});

test('every line of the graph leads to the lane of the parent it belongs to', () => {
  const commits = Array.from({ length: 400 }, (_, index) => {
    const parents =
      index >= 397
        ? index < 399
          ? [`${index + 1}`]
          : []
        : index % 5 === 0
          ? [`${index + 1}`, `${index + 3}`]
          : [`${index + 1 + (index % 2)}`];
    return { id: `${index}`, parents };
  });
  const rows = layOutGraph(commits);
  const position = new Map(commits.map(({ id }, index) => [id, index]));
  for (const [index, { parents }] of commits.entries()) {
    for (const parent of parents) {
      const target = position.get(parent) ?? 0;
      // Follow the lines down from this commit; one of them must arrive at the parent's dot.
      let lanes = new Set(rows[index]?.edges.filter(({ starts }) => starts).map(({ to }) => to));
      for (let row = index + 1; row < target; row++) {
        const passing = rows[row]?.edges.filter(({ starts }) => !starts) ?? [];
        lanes = new Set(passing.filter(({ from }) => lanes.has(from)).map(({ to }) => to));
      }
      expect(lanes.has(rows[target]?.lane ?? -1)).toBe(true);
    }
  }
});

test('SQL names objects anywhere in it, but not inside comments', () => {
  const prepared = prepareSql(
    "-- 'svc://r/main/no.csv'\nCOPY (SELECT * FROM 'svc://r/main/it''s.parquet' a, 'lakefs://r/dev/b.csv' b, 'svc://r/main/it''s.parquet') TO 'svc://r/dev/out.parquet' (FORMAT parquet)",
    7,
  );
  expect(prepared.reads.map(({ path, ref, name }) => [path, ref, name])).toEqual([
    ["it's.parquet", 'main', 'in_7_0.parquet'],
    ['b.csv', 'dev', 'in_7_1.csv'],
  ]);
  expect(prepared.writes).toMatchObject([{ ref: 'dev', path: 'out.parquet', name: 'out_7_0.parquet' }]);
  expect(prepared.sql).toContain("'svc://r/main/no.csv'");
  expect(prepared.sql).toContain("TO 'out_7_0.parquet'");
  expect(splitStatements("SELECT ';'; -- x;\nSELECT 2;\n")).toHaveLength(2);
  expect(defaultQuery("svc://r/main/it's.parquet")).toContain("'svc://r/main/it''s.parquet'");
});

test('CSV with quotes, other delimiters and a cut last line', () => {
  expect(parseCsv('a,b\r\n"x ""y"", z",2\n', true)).toEqual({
    columns: ['a', 'b'],
    rows: [['x "y", z', '2']],
  });
  expect(parseCsv('a;b\n1;2\n3', false).rows).toEqual([['1', '2']]);
  expect(parseCsv('a,b\n1,2\n3,"x\ny', false).rows).toEqual([['1', '2']]);
  expect(parseCsv('a;b\n1;2\n3;4\n', false).rows).toEqual([
    ['1', '2'],
    ['3', '4'],
  ]);
  expect(parseCsv('\uFEFFa\tb\r\n"1\r\n2"\t3\r\n\r\n', true)).toEqual({
    columns: ['a', 'b'],
    rows: [['1\n2', '3']],
  });
  // Lines with a carriage return alone, and commas inside of a semicolon's table.
  expect(parseCsv('a,b\r1,2\r', true).rows).toEqual([['1', '2']]);
  expect(parseCsv('"x,y,z";b\n1;2\n', true).columns).toEqual(['x,y,z', 'b']);
  expect(parseCsv('only\none\n', true)).toEqual({ columns: ['only'], rows: [['one']] });
});

test('previews are chosen by type, then by name', () => {
  expect(fileKind('x.PARQUET', 'application/octet-stream')).toBe('table');
  expect(fileKind('x', 'text/markdown; charset=utf-8')).toBe('markdown');
  expect(fileKind('x.py', 'application/octet-stream')).toBe('text');
  expect(fileKind('x.bin', 'application/octet-stream')).toBe('unknown');
});

test('snippets quote for the shell and hold no secret', () => {
  expect(shellQuote("it's")).toBe(String.raw`'it'\''s'`);
  const place = { origin, repository: 'r', ref: 'main', path: "a b's.parquet" };
  for (const { code } of [...listSnippets(place), ...readSnippets(place)])
    expect(code).not.toMatch(/AKIA|secret_access_key: /);
  expect(listSnippets(place)[0]?.code).toBe(String.raw`svcctl fs ls 'svc://r/main/a b'\''s.parquet'`);
  expect(cliConfig(origin, 'id', 'secret')).toContain('endpoint_url: https://svc.example/api/v1');
});

test('policies are checked in words; patterns match as the server matches', () => {
  expect(parsePolicy('{')).toMatchObject({ problem: expect.stringContaining('Not JSON') as string });
  expect(parsePolicy('{"statement":[]}')).toMatchObject({
    problem: expect.stringContaining('at least one') as string,
  });
  const about = (principal: string) =>
    parsePolicy(
      `{"statement":[{"effect":"allow","action":["fs:ReadObject"],"resource":"*","principal":${principal}}]}`,
    );
  expect(about('["anonymous"]')).toHaveProperty('statement');
  for (const principal of ['["alice"]', '[]', '"anonymous"', 'null'])
    expect(about(principal)).toMatchObject({ problem: expect.stringMatching(/"principal"/) as string });
  expect(parsePolicy('{"statement":[{"effect":"allow","action":["fs:*"],"resource":"*"}]}')).toHaveProperty(
    'statement',
  );
});

test('protection rules match as on the server, at once, and a broken one matches nothing', () => {
  const rules = ['release-*', 'm?in', 'a.c', '{dev,prod}-[0-9]', '[', `${'*a'.repeat(40)}*b`];
  expect(rulesFor('release-1.0', rules)).toEqual(['release-*']);
  expect(rulesFor('main', rules)).toEqual(['m?in']);
  expect(rulesFor('abc', rules)).toEqual([]);
  expect(rulesFor('prod-7', rules)).toEqual(['{dev,prod}-[0-9]']);
  expect(rulesFor('a'.repeat(1000), rules)).toEqual([]);
});

test('sizes and times read as people say them', () => {
  expect([formatBytes(0), formatBytes(1023), formatBytes(1536), formatBytes(5 * 1024 ** 4)]).toEqual([
    '0 B',
    '1023 B',
    '1.5 KB',
    '5.0 TB',
  ]);
  expect(formatRelative(1000, 1002)).toBe('just now');
  expect(formatRelative(1000, 1000 + 7200)).toBe('2 hours ago');
  expect(formatTime(86_400, true)).toBe('1970-01-02 00:00:00 UTC');
  expect(formatTime(86_400, false)).toMatch(/^1970-01-0\d \d\d:\d\d:00 UTC[+−]\d\d:\d\d$/);
});

test('the ancestry of a commit is what leads to it, not what stands below it', () => {
  const log = [
    { id: 'merge', parents: ['left', 'right'] },
    { id: 'right', parents: ['root'] },
    { id: 'left', parents: ['root'] },
    { id: 'root', parents: [] },
  ];
  expect([...ancestryOf(log, 0)].sort()).toEqual(['left', 'merge', 'right', 'root']);
  expect([...ancestryOf(log, 1)]).toEqual(['right', 'root']);
});

test('values of a query are asked for as SQL writes them, by place', () => {
  expect(asTextQuery('SELECT 1 AS a, 2 AS a', 2)).toBe(
    'SELECT CAST(c0 AS VARCHAR) AS c0, CAST(c1 AS VARCHAR) AS c1 FROM (SELECT 1 AS a, 2 AS a\n) AS result(c0, c1)',
  );
  expect(
    ['-- x\n/* y */ select 1', 'WITH a AS (SELECT 1) FROM a', 'CREATE TABLE t (a INT)'].map(isQuery),
  ).toEqual([true, true, false]);
  expect(
    ['DECIMAL(10,2)', 'HUGEINT', 'UINTEGER', 'INTEGER[]', 'INTERVAL', 'VARCHAR'].map(isNumericType),
  ).toEqual([true, true, true, false, false, false]);
  expect(jsonArrayOf('{"a":1}\n\n{"a":2}\n')).toBe('[{"a":1},{"a":2}]');
  expect(defaultQuery('svc://r/main/x.jsonl')).toContain("FROM 'svc://r/main/x.jsonl'");
});

test('files are found by words in any order, names before folders', () => {
  const paths = ['a/stations.csv', 'data/old-stations.csv', 'stations/x.txt', 'data/y.txt'];
  expect(findFiles(paths, 'stations', 8)).toEqual([
    'a/stations.csv',
    'data/old-stations.csv',
    'stations/x.txt',
  ]);
  expect(findFiles(paths, 'CSV data', 8)).toEqual(['data/old-stations.csv']);
  expect(findFiles(paths, 'stations', 2)).toHaveLength(2);
  expect(findFiles(paths, '  ', 8)).toEqual([]);
});
