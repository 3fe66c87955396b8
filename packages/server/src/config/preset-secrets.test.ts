import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { describe, expect, test } from 'vitest';
import { isLoopback } from './listen-host.ts';
import { loadConfig } from './load.ts';
import { withPresetSecrets } from './preset-secrets.ts';
import { developmentSecrets, quickstartCredentials } from './presets.ts';

function load(env: Record<string, string>, preset: 'quickstart' | 'local-settings' = 'quickstart') {
  return withPresetSecrets(loadConfig({ preset, env, cwd: tempDir() }));
}

function secretsOf({ config }: ReturnType<typeof load>): string[] {
  return [
    config.auth.encrypt.secret_key,
    config.blockstore.signing.secret_key,
    config.installation.secret_access_key,
  ];
}

const published = [
  developmentSecrets.encrypt,
  developmentSecrets.signing,
  quickstartCredentials.secretAccessKey,
];

test.each(['quickstart', 'local-settings'] as const)('--%s listens on this machine alone', (preset) => {
  expect(loadConfig({ preset, env: {}, cwd: tempDir() }).config.listen_address).toBe('127.0.0.1:8000');
});

test('what only this machine can reach', () => {
  for (const address of ['127.0.0.1:8000', 'localhost:1', '[::1]:80', '127.1.2.3:0'])
    expect(isLoopback(address)).toBe(true);
  for (const address of [
    '0.0.0.0:8000',
    ':80',
    '[::]:80',
    '10.0.0.1:1',
    '127.evil.example:80',
    'localhost.evil:1',
  ])
    expect(isLoopback(address)).toBe(false);
});

describe('opened to other machines', () => {
  const open = (path: string) => ({ SVC_LISTEN_ADDRESS: '0.0.0.0:8000', SVC_DATABASE_LOCAL_PATH: path });

  test('the quick start uses secrets of its own, which it keeps', () => {
    const path = join(tempDir(), 'kv');
    const first = secretsOf(load(open(path)));
    for (const secret of first) {
      expect(secret).toMatch(/^[\w-]{40}$/);
      expect(published).not.toContain(secret);
    }
    expect(new Set(first).size).toBe(3);
    expect(statSync(join(path, 'preset-secrets.json')).mode % 0o1000).toBe(0o600);
    expect(secretsOf(load(open(path)))).toEqual(first);
    expect(secretsOf(load({ SVC_DATABASE_LOCAL_PATH: path }))).toEqual(first);
    expect(secretsOf(load(open(join(tempDir(), 'kv'))))).not.toEqual(first);
  });

  test('an installation made with the published secrets is refused', () => {
    const path = tempDir();
    writeFileSync(join(path, 'data.mdb'), 'something');
    expect(() => load(open(path))).toThrow(/was made with the published secrets.*another folder/s);
    expect(existsSync(join(path, 'preset-secrets.json'))).toBe(false);
    expect(secretsOf(load({ SVC_DATABASE_LOCAL_PATH: path }))).toEqual(published);
  });

  test('secrets that were set stay as they are', () => {
    const path = tempDir();
    const { config } = load({ ...open(path), SVC_AUTH_ENCRYPT_SECRET_KEY: 'my own secret, long enough' });
    expect(config.auth.encrypt.secret_key).toBe('my own secret, long enough');
    expect(readFileSync(join(path, 'preset-secrets.json'), 'utf8')).not.toContain('my own secret');
    const store = {
      SVC_LISTEN_ADDRESS: ':80',
      SVC_DATABASE_TYPE: 'postgres',
      SVC_DATABASE_POSTGRES_CONNECTION_STRING: 'postgres://x/y',
    };
    expect(() => load(store, 'local-settings')).toThrow(/set auth\.encrypt\.secret_key/);
  });
});
