import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { describe, expect, test } from 'vitest';
import { runSvc } from './start-server.ts';

describe('a configuration that cannot be used', () => {
  test('all problems at once, exit 1, nothing created', async () => {
    const home = tempDir();
    writeFileSync(join(home, 'config.yaml'), 'databse: {type: local}\nlogging: {lvel: x}\n');
    const run = await runSvc(['run'], { SVC_LOGGING_LEVEL: 'loud' }, home);
    expect(run.code).toBe(1);
    expect(run.stderr).toContain('unknown configuration keys: databse.type, logging.lvel');
    expect(run.stderr).toContain('logging.level: must be one of');
    expect(run.stderr).toContain(
      'missing required keys: [database.type blockstore.type blockstore.signing.secret_key auth.encrypt.secret_key]',
    );
    expect(readdirSync(home)).toEqual(['config.yaml']);
  });

  test('a missing secret is named; quick start refuses another store before anything opens', async () => {
    const [missing, refused] = await Promise.all([
      runSvc(['run'], {
        SVC_DATABASE_TYPE: 'local',
        SVC_BLOCKSTORE_TYPE: 'local',
        SVC_AUTH_ENCRYPT_SECRET_KEY: 'a-secret-of-some-length',
      }),
      runSvc(['run', '--quickstart'], { SVC_BLOCKSTORE_TYPE: 's3' }),
    ]);
    expect(missing).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('[blockstore.signing.secret_key]'),
    });
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^FATAL: --quickstart needs blockstore.type/m),
    });
  });

  test('a file that does not exist or does not parse', async () => {
    const home = tempDir();
    writeFileSync(join(home, 'bad.yaml'), 'a: [');
    const [none, bad] = await Promise.all([
      runSvc(['run', '-c', 'none.yaml'], {}, home),
      runSvc(['-c', 'bad.yaml', 'run'], {}, home),
    ]);
    expect(none).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cannot read the configuration file none.yaml'),
    });
    expect(bad).toMatchObject({ code: 1, stderr: expect.stringContaining('bad.yaml is not valid YAML') });
  });
});

describe('an environment that does not allow a start', () => {
  test('a busy port, a folder that is a file, an unusable log file: each a sentence with what to do', async () => {
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
    const home = tempDir();
    writeFileSync(join(home, 'file'), '');
    try {
      const port = (blocker.address() as AddressInfo).port;
      const [busy, folder, log] = await Promise.all([
        runSvc(['run', '--quickstart'], { SVC_LISTEN_ADDRESS: `127.0.0.1:${port}` }),
        runSvc(['run', '--quickstart'], { SVC_DATABASE_LOCAL_PATH: join(home, 'file', 'x') }),
        runSvc(['run', '--quickstart'], { SVC_LOGGING_OUTPUT: join(home, 'file', 'x.log') }),
      ]);
      expect(busy).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('the port is in use; stop the program'),
      });
      expect(folder).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('set database.local.path to a folder'),
      });
      expect(log).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('logging.output: cannot open the log file'),
      });
    } finally {
      blocker.close();
    }
  });
});

describe('commands', () => {
  test('setup prints credentials once; superuser adds one more; the store can be looked into', async () => {
    const home = tempDir();
    const run = (...args: string[]) => runSvc([...args, '--local-settings'], {}, home);
    const first = await run('setup', '--user-name', 'admin');
    expect(first.code).toBe(0);
    expect(first.stdout).toMatch(/^credentials:\n {2}access_key_id: AKIAJ\w+\n {2}secret_access_key: \S+\n$/);
    expect(await run('init', '--user-name', 'admin')).toMatchObject({
      code: 1,
      stdout: 'Setup is already complete.\n',
    });
    expect(await run('superuser', '--user-name', 'admin')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('already exists'),
    });
    expect((await run('superuser', '--user-name', 'rescue')).stdout).toContain('access_key_id');
    expect(await run('migrate', 'version')).toMatchObject({ code: 0, stdout: 'schema version: 4\n' });
    expect(await run('migrate', 'goto', '--version', '9')).toMatchObject({ code: 1 });
    const version = await run('kv', 'get', 'kv-internal-metadata', 'kv/schema/version');
    expect(JSON.parse(version.stdout)).toEqual({
      partition: 'kv-internal-metadata',
      key: 'kv/schema/version',
      value: '4',
    });

    const dump = join(home, 'dump.json');
    expect(await run('kv', 'dump', '--all', '--output', dump)).toMatchObject({ code: 0 });
    const other = tempDir();
    const loaded = await runSvc(['kv', 'load', '--input', dump, '--local-settings'], {}, other);
    expect(loaded.stdout).toMatch(/^\d+ entries written, 0 skipped\n$/);
    const again = await runSvc(['kv', 'load', '--input', dump, '--local-settings'], {}, other);
    expect(again.stdout).toMatch(/^0 entries written, \d+ skipped\n$/);
    const users = await runSvc(
      ['kv', 'scan', 'auth', 'users/', '--until', 'users0', '--local-settings'],
      {},
      other,
    );
    expect(users.stdout.match(/"key":"users\/\w+"/g)).toEqual([
      '"key":"users/admin"',
      '"key":"users/rescue"',
    ]);
  });

  test('config print shows values and sources and no secret', async () => {
    const secret = 'not-to-be-seen-anywhere';
    const run = await runSvc(['config', 'print', '--quickstart'], {
      SVC_AUTH_ENCRYPT_SECRET_KEY: secret,
      LAKEFS_LOGGING_LEVEL: 'debug',
    });
    expect(run.code).toBe(0);
    expect(run.stdout).toMatch(
      /^auth\.encrypt\.secret_key +\*{6} {2}# environment SVC_AUTH_ENCRYPT_SECRET_KEY$/m,
    );
    expect(run.stdout).toMatch(/^database\.type +local {2}# preset --quickstart$/m);
    expect(run.stdout).toMatch(/^logging\.level +DEBUG {2}# environment LAKEFS_LOGGING_LEVEL$/m);
    expect(run.stdout + run.stderr).not.toContain(secret);
  });

  test('flare carries the configuration and variables without secrets', async () => {
    const home = tempDir();
    const secret = 'not-to-be-seen-anywhere';
    const env = { SVC_AUTH_ENCRYPT_SECRET_KEY: secret, SVC_LOGGING_LEVEL: 'INFO', SVC_OTHER: `x${secret}` };
    const shown = await runSvc(['flare', '--stdout', '--local-settings'], env, home);
    expect(shown.stdout).toContain('secret_key: "[SECRET]"');
    expect(shown.stdout).toContain('SVC_LOGGING_LEVEL=INFO');
    expect(shown.stdout).toMatch(/SVC_AUTH_ENCRYPT_SECRET_KEY=[0-9a-f]{128}\n/);
    expect(shown.stdout).not.toContain(secret);
    const zipped = await runSvc(['flare', '-p', '--local-settings'], env, home);
    expect(existsSync(join(home, zipped.stdout.trim()))).toBe(true);
  });

  test('help, version, completion and a slip of the hand', async () => {
    const [help, version, typo, script, words] = await Promise.all([
      runSvc(['--help']),
      runSvc(['--version']),
      runSvc(['rnu']),
      runSvc(['completion', 'zsh']),
      runSvc(['__complete', 'migrate', 'u']),
    ]);
    expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('$ svc run --quickstart') });
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+/);
    expect(typo).toMatchObject({ code: 1, stderr: expect.stringContaining('Did you mean run?') });
    expect(script.stdout).toContain('#compdef svc');
    expect(words.stdout).toBe('up\n');
  });
});
