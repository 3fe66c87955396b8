import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { svcBundle } from '@svc/testing';
import { expect, test } from 'vitest';

const ui = join(svcBundle(), 'ui');
const html = readFileSync(join(ui, 'index.html'), 'utf8');
const gzipped = (path: string): number => gzipSync(readFileSync(join(ui, path)), { level: 9 }).length;

test('the first load is small: under 180 KB of scripts and 25 KB of styles, compressed', () => {
  const scripts = [...html.matchAll(/(?:src|href)="(\/[^"]+\.js)"/g)].map(([, path = '']) => path);
  const styles = [...html.matchAll(/href="(\/[^"]+\.css)"/g)].map(([, path = '']) => path);
  expect(scripts.length).toBeGreaterThan(1);
  expect(scripts.reduce((sum, path) => sum + gzipped(path), 0)).toBeLessThan(180 * 1024);
  expect(styles.reduce((sum, path) => sum + gzipped(path), 0)).toBeLessThan(25 * 1024);
});

test('pages hold nothing inline and load nothing from elsewhere; large parts come later', () => {
  expect(html).not.toMatch(/<script(?![^>]*\bsrc=)/);
  expect(html).not.toMatch(/(?:src|href)="(?!\/)/);
  const late = readdirSync(join(ui, 'assets')).filter((name) =>
    /duckdb|markdown-view|code-view|table-preview/.test(name),
  );
  expect(late.length).toBeGreaterThan(3);
  for (const name of late) expect(html).not.toContain(name);
});

test('what is loaded later comes in parts of at most 120 KB, compressed, but for the SQL engine', () => {
  const parts = readdirSync(join(ui, 'assets')).filter(
    (name) => name.endsWith('.js') && !name.startsWith('duckdb'),
  );
  expect(parts.length).toBeGreaterThan(20);
  const large = parts.filter((name) => gzipped(join('assets', name)) > 120 * 1024);
  expect(large).toEqual([]);
});

test.each([
  ['markdown-view', 90],
  ['read-parquet', 100],
])('%s takes at most %i KB, compressed', (part, limit) => {
  const names = readdirSync(join(ui, 'assets')).filter(
    (name) => name.startsWith(part) && name.endsWith('.js'),
  );
  expect(names).toHaveLength(1);
  for (const name of names) expect(gzipped(join('assets', name))).toBeLessThan(limit * 1024);
});

test('every file has its compressed forms, each smaller than itself', () => {
  const files = readdirSync(join(ui, 'assets')).filter((name) => /\.(js|css|wasm)$/.test(name));
  for (const name of files) {
    const plain = statSync(join(ui, 'assets', name)).size;
    if (plain < 1024) continue;
    expect(statSync(join(ui, 'assets', `${name}.br`)).size).toBeLessThan(plain);
    expect(statSync(join(ui, 'assets', `${name}.gz`)).size).toBeLessThan(plain);
  }
});
