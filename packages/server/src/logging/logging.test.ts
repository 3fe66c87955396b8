import { readFileSync, readdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLogger } from './logger.ts';
import { LogOutputs } from './outputs.ts';
import { hasSecretBody, redactHeaders, redactUrl } from './redact.ts';
import { RotatingFile } from './rotating-file.ts';
import { colourLines, textLine, wantsColour } from './text-line.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-logging-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function collect() {
  const lines: string[] = [];
  return { lines, write: (line: string) => lines.push(line) };
}

test('a JSON line has time, level, message, place and fields', () => {
  const sink = collect();
  createLogger({ level: 'INFO', format: 'json', sink }).warn({ repository: 'r' }, 'something');
  const record = JSON.parse(sink.lines[0]!) as Record<string, unknown>;
  expect(record).toMatchObject({ level: 'warn', msg: 'something', repository: 'r' });
  expect(record['time']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(record['file']).toMatch(/packages\/server\/src\/logging\/logging\.test\.ts:\d+$/);
  expect(record).not.toHaveProperty('pid');
});

test('a text line has the same as key=value', () => {
  const sink = collect();
  createLogger({ level: 'INFO', format: 'text', sink }).info({ user: 'a b', n: 3 }, 'say "hi"');
  expect(sink.lines[0]).toMatch(/^time=\S+Z level=info msg="say \\"hi\\"" file=\S+ .*user="a b" n=3\n$/);
});

test('an unexpected error carries its stack, an expected one only its message and causes', () => {
  const sink = collect();
  const logger = createLogger({ level: 'INFO', format: 'json', sink });
  logger.error({ error: new Error('outer', { cause: new Error('inner') }) }, 'failed');
  logger.error({ err: Object.assign(new Error('busy'), { kind: 'busy' }) }, 'failed');
  const [first, second] = sink.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(first).toMatchObject({ error: 'outer: inner', stack: expect.stringContaining('logging.test.ts') });
  expect(second).toMatchObject({ error: 'busy' });
  expect(second).not.toHaveProperty('stack');
});

test('the level may change while running, also for children', () => {
  const sink = collect();
  const logger = createLogger({ level: 'WARN', format: 'json', sink });
  const child = logger.child({ part: 'x' });
  child.debug({}, 'hidden');
  logger.setLevel('DEBUG');
  child.debug({}, 'shown');
  expect(logger.isEnabled('DEBUG')).toBe(true);
  logger.setLevel('NONE');
  child.error({}, 'hidden');
  expect(logger.isEnabled('ERROR')).toBe(false);
  expect(sink.lines).toHaveLength(1);
  expect(sink.lines[0]).toContain('shown');
});

test('colour only on terminals, and not with NO_COLOR unless it is 0', () => {
  expect(wantsColour(true, undefined)).toBe(true);
  expect(wantsColour(true, '0')).toBe(true);
  expect(wantsColour(true, '1')).toBe(false);
  expect(wantsColour(false, undefined)).toBe(false);
  const line = textLine({ time: 't', level: 'error', msg: 'x level=info msg=' });
  expect(colourLines(line)).toContain('level=\u001b[31merror\u001b[39m');
});

test('several outputs get every line; empty entries are ignored', async () => {
  const one = join(folder, 'one.log');
  const two = join(folder, 'sub', 'two.log');
  const outputs = new LogOutputs({ outputs: [one, '', two], format: 'json', maxBytes: 1e6, keep: 0 });
  outputs.write('a\n');
  outputs.write('b\n');
  await outputs.close();
  expect(readFileSync(one, 'utf8')).toBe('a\nb\n');
  expect(readFileSync(two, 'utf8')).toBe('a\nb\n');
});

test('a log file that cannot be opened is refused with its name', () => {
  writeFileSync(join(folder, 'plain'), '');
  const outputs = [join(folder, 'plain', 'x.log')];
  expect(() => new LogOutputs({ outputs, format: 'json', maxBytes: 1, keep: 0 })).toThrow(
    'logging.output: cannot open',
  );
});

test('rotation at the size, keeping the newest files, losing no line', async () => {
  const path = join(folder, 'rotate.log');
  const file = new RotatingFile(path, {
    maxBytes: 100,
    keep: 2,
    onError: (error) => expect.fail(error.message),
  });
  const line = (n: number) => `${String(n).padStart(39, '0')}\n`;
  for (let n = 0; n < 20; n++) {
    file.write(line(n));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await file.close();
  const names = readdirSync(folder).filter((name) => name.startsWith('rotate'));
  expect(names).toHaveLength(3);
  const kept = names.toSorted().map((name) => readFileSync(join(folder, name), 'utf8'));
  for (const text of kept) expect(text.length).toBeLessThanOrEqual(100);
  expect(readFileSync(path, 'utf8')).toContain(line(19));
});

test('a rotating file keeps everything with files_keep 0', async () => {
  const path = join(folder, 'all.log');
  const file = new RotatingFile(path, {
    maxBytes: 10,
    keep: 0,
    onError: (error) => expect.fail(error.message),
  });
  for (const word of ['12345678\n', 'abcdefgh\n', 'ABCDEFGH\n']) {
    file.write(word);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await file.close();
  const names = readdirSync(folder).filter((name) => name.startsWith('all'));
  expect(names.map((name) => readFileSync(join(folder, name), 'utf8')).toSorted()).toEqual(
    ['12345678\n', 'ABCDEFGH\n', 'abcdefgh\n'].toSorted(),
  );
});

test('credentials never reach a line', () => {
  expect(redactUrl('/a?X-Amz-Signature=abc&b=1&token=t')).toBe(
    '/a?X-Amz-Signature=[REDACTED]&b=1&token=[REDACTED]',
  );
  expect(redactUrl('/plain')).toBe('/plain');
  expect(redactHeaders({ Authorization: 'Basic x', 'x-other': 'y' })).toEqual({
    Authorization: '[REDACTED]',
    'x-other': 'y',
  });
  const referer = 'https://svc.example/auth/resetpassword?token=secret&email=a';
  expect(redactHeaders({ referer })).toEqual({
    referer: 'https://svc.example/auth/resetpassword?token=[REDACTED]&email=a',
  });
  expect(hasSecretBody('/api/v1/auth/login')).toBe(true);
  expect(hasSecretBody('/api/v1/auth/users/a/credentials')).toBe(true);
  expect(hasSecretBody('/api/v1/repositories')).toBe(false);
});
