export interface SqlUri {
  readonly repository: string;
  readonly ref: string;
  readonly path: string;
}

export interface SqlFile extends SqlUri {
  readonly uri: string;
  /** The name the engine knows the file by. */
  readonly name: string;
}

export interface PreparedSql {
  readonly sql: string;
  readonly reads: readonly SqlFile[];
  readonly writes: readonly SqlFile[];
}

export function parseUri(uri: string): SqlUri | undefined {
  const match = /^(?:svc|lakefs):\/\/([^/]+)\/([^/]+)\/(.+)$/s.exec(uri);
  if (match === null) return undefined;
  const [, repository = '', ref = '', path = ''] = match;
  return { repository, ref, path };
}

export function quoteSql(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

interface Token {
  readonly kind: 'string' | 'comment' | 'code';
  readonly text: string;
}

/** Splits SQL into string literals, comments and the rest, so that a URI inside a comment is left alone. */
function tokenise(sql: string): Token[] {
  const tokens: Token[] = [];
  const pattern = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\//g;
  let last = 0;
  for (const match of sql.matchAll(pattern)) {
    if (match.index > last) tokens.push({ kind: 'code', text: sql.slice(last, match.index) });
    const text = match[0];
    const kind = text.startsWith("'") ? 'string' : text.startsWith('"') ? 'code' : 'comment';
    tokens.push({ kind, text });
    last = match.index + text.length;
  }
  if (last < sql.length) tokens.push({ kind: 'code', text: sql.slice(last) });
  return tokens;
}

/** Replaces every object URI of a script by the name of a registered file; `COPY … TO` targets become writes. */
export function prepareSql(sql: string, run: number): PreparedSql {
  const reads = new Map<string, SqlFile>();
  const writes = new Map<string, SqlFile>();
  let code = '';
  const out = tokenise(sql).map((token) => {
    if (token.kind !== 'string') {
      if (token.kind === 'code') code += token.text;
      return token.text;
    }
    const uri = token.text.slice(1, -1).replaceAll("''", "'");
    const parsed = parseUri(uri);
    const isTarget = /\bto\s*$/i.test(code);
    code += '?';
    if (parsed === undefined) return token.text;
    const files = isTarget ? writes : reads;
    let file = files.get(uri);
    if (file === undefined) {
      // The extension stays: the engine chooses its reader by it.
      const extension = /\.\w+$/.exec(parsed.path)?.[0] ?? '';
      const name = `${isTarget ? 'out' : 'in'}_${run}_${files.size}${extension}`;
      file = { ...parsed, uri, name };
      files.set(uri, file);
    }
    return quoteSql(file.name);
  });
  return { sql: out.join(''), reads: [...reads.values()], writes: [...writes.values()] };
}

/** What the SQL tab runs when a data file is opened. */
export function defaultQuery(uri: string): string {
  const name = quoteSql(uri);
  if (/\.parquet$/i.test(uri))
    return `SELECT *\nFROM READ_PARQUET(${name}, hive_partitioning=false)\nLIMIT 20`;
  if (isJsonLines(uri)) return `SELECT *\nFROM ${name}\nLIMIT 20`;
  const delimiter = /\.tsv$/i.test(uri) ? ", DELIM='\\t'" : '';
  return `SELECT *\nFROM READ_CSV(${name}, AUTO_DETECT=TRUE${delimiter})\nLIMIT 20`;
}

export function isJsonLines(name: string): boolean {
  return /\.(jsonl|ndjson)$/i.test(name);
}

/** JSON lines as one array, as the engine reads it. */
export function jsonArrayOf(lines: string): string {
  return `[${lines
    .split('\n')
    .filter((line) => line.trim() !== '')
    .join(',')}]`;
}

/** Whether a statement answers rows and can stand in parentheses. */
export function isQuery(statement: string): boolean {
  const code = tokenise(statement).filter(({ kind }) => kind !== 'comment');
  return /^\s*(select|with|from|values)\b/i.test(code.map(({ text }) => text).join(''));
}

/**
 * The same rows with every value as SQL writes it: what the engine hands to a program are scaled integers, counts of
 * microseconds and the like. Columns are numbered, because two may have one name.
 */
export function asTextQuery(query: string, columns: number): string {
  const names = Array.from({ length: columns }, (_, index) => `c${index}`);
  const texts = names.map((name) => `CAST(${name} AS VARCHAR) AS ${name}`);
  return `SELECT ${texts.join(', ')} FROM (${query}\n) AS result(${names.join(', ')})`;
}

export function isNumericType(type: string): boolean {
  return /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|REAL|DECIMAL\(\d+,\d+\))$/.test(type);
}

/** Splits a script into its statements. */
export function splitStatements(sql: string): string[] {
  const statements: string[] = [];
  let current = '';
  for (const token of tokenise(sql)) {
    if (token.kind !== 'code' || token.text.startsWith('"')) {
      current += token.text;
      continue;
    }
    const parts = token.text.split(';');
    current += parts[0] ?? '';
    for (const part of parts.slice(1)) {
      statements.push(current);
      current = part;
    }
  }
  statements.push(current);
  return statements.filter((statement) =>
    tokenise(statement).some((token) => token.kind !== 'comment' && token.text.trim() !== ''),
  );
}
