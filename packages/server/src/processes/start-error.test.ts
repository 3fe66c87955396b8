import { expect, test } from 'vitest';
import { loadConfig } from '../config/index.ts';
import { probableCause } from './start-error.ts';

const { config } = loadConfig({ preset: 'quickstart', env: { SVC_DATABASE_LOCAL_PATH: '/data/kv' } });

test('a process that ends by touching memory that is not there names the store as the probable cause', () => {
  for (const signal of ['SIGSEGV', 'SIGBUS']) {
    expect(probableCause(signal, config)).toMatch(
      /key-value store in \/data\/kv is damaged.*restore the folder from a backup/,
    );
  }
});

test('other ends have other causes', () => {
  for (const signal of ['SIGKILL', 'SIGTERM', null]) expect(probableCause(signal, config)).toBe('');
  const elsewhere = { ...config, database: { ...config.database, type: 'postgres' as const } };
  expect(probableCause('SIGSEGV', elsewhere)).toBe('');
});
