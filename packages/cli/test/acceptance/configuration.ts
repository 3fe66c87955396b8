import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { svcBundle, tempDir } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { FakeServer } from '../fake-server.ts';
import { collect, Tool } from '../start-svc.ts';
import type { Stage } from './stage.ts';

export function configurationTests(stage: Stage): void {
  describe('configuration and plugins', () => {
    it('refuses a missing file that was named', async () => {
      const missing = await stage.tool.run(['-c', 'missing.yaml', 'repo', 'list']);
      expect(missing).toMatchObject({ code: 1 });
      expect(missing.stderr).toContain('error reading configuration file');
    });

    it('needs no server for what stays in the folder', async () => {
      const env = { SVCCTL_SERVER_ENDPOINT_URL: '' };
      const listed = await stage.tool.run(['local', 'list'], { cwd: tempDir(), env });
      expect(listed).toMatchObject({ code: 0, stderr: '' });
    });

    it('writes the file from three answers, readable for its owner only', async () => {
      const home = tempDir();
      const own = new Tool(stage.server.url, home);
      const file = join(home, '.svcctl.yaml');
      writeFileSync(file, '# mine\nlocal:\n  symlink_support: true\n');
      const result = await own.run(['config'], { input: `ID1\nSECRET1\nnonsense\n${stage.server.url}\n` });
      expect(result).toMatchObject({ code: 0, stdout: `Config file ${file} will be used\n` });
      expect(result.stderr).toContain('"nonsense" is not an absolute URL');
      expect(readFileSync(file, 'utf8')).toBe(
        `# mine\nlocal:\n  symlink_support: true\ncredentials:\n  access_key_id: ID1\n  secret_access_key: SECRET1\nserver:\n  endpoint_url: ${stage.server.url}\n`,
      );
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const before = readFileSync(file, 'utf8');
      expect(await own.run(['config'], { input: 'only\n' })).toMatchObject({ code: 1 });
      expect(readFileSync(file, 'utf8')).toBe(before);
    });

    it('runs plugins and passes their status through', async () => {
      const folder = tempDir();
      const plugin = join(folder, 'svcctl-foo');
      writeFileSync(plugin, '#!/bin/sh\necho "$@"\nexit 7\n');
      chmodSync(plugin, 0o755);
      const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}` };
      expect(await stage.tool.run(['foo', '--x', '1'], { env, alone: true })).toEqual({
        code: 7,
        stdout: '--x 1\n',
        stderr: '',
      });
      expect(await stage.tool.ok(['plugin', 'list'], { env })).toContain('\n  foo\n');
      const none = await stage.tool.run(['foo', '--x', '1']);
      expect(none).toMatchObject({ code: 1 });
      expect(none.stderr).toBe(
        'Error: unknown command "foo" for "svcctl"\nRun \'svcctl --help\' for usage.\n',
      );
    });

    it('logs where it is told to, and tells its own server which command was used', async () => {
      const page = { results: [], pagination: { has_more: false, next_offset: '' } };
      const fake = await FakeServer.start(() => ({ status: 200, body: page }));
      try {
        const file = join(tempDir(), 'log');
        const flags = ['--log-level', 'debug', '--log-format', 'json', '--log-output', file];
        await new Tool(fake.url).ok(['repo', 'list', ...flags], { alone: true });
        const lines = readFileSync(file, 'utf8').trim().split('\n');
        const requests = lines.map((line) => JSON.parse(line) as { url: string; status: number });
        expect(requests.map(({ url }) => url)).toContain(`${fake.url}/api/v1/repositories`);
        expect(fake.statistics).toEqual(['{"events":[{"class":"svcctl","name":"repo_list","count":1}]}']);
        expect(fake.seen[0]?.headers['user-agent']).toMatch(/^svcctl\/\d+\.\d+\.\d+\//);
      } finally {
        await fake.stop();
      }
    });

    it('gives up on a dead server after one sequence of retries', async () => {
      const started = Date.now();
      const dead = await stage.tool.run(['repo', 'list'], {
        env: {
          SVCCTL_SERVER_ENDPOINT_URL: 'http://127.0.0.1:9',
          SVCCTL_SERVER_RETRIES_MIN_WAIT_INTERVAL: '100ms',
        },
      });
      expect(dead).toMatchObject({ code: 1, stdout: '' });
      expect(dead.stderr).toContain('gave up after 5 attempts: connect ECONNREFUSED');
      expect(Date.now() - started).toBeLessThan(10_000);
    });

    it('completes repositories, branches and paths, and prints scripts for three shells', async () => {
      const offers = async (...words: string[]): Promise<string[]> =>
        (await stage.tool.ok(['__complete', ...words])).split('\n').filter((line) => line !== '');
      await stage.put('main/typed/a');
      // There are no offers when the server takes longer than a person who types would wait.
      const patience = { timeout: 30_000 };
      await expect.poll(() => offers('fs', 'ls', 'svc://rep'), patience).toEqual(['svc://repo1/']);
      await expect.poll(() => offers('fs', 'ls', 'svc://repo1/ma'), patience).toEqual(['svc://repo1/main/']);
      await expect
        .poll(() => offers('fs', 'ls', 'svc://repo1/main/ty'), patience)
        .toEqual(['svc://repo1/main/typed/']);
      expect(await offers('branch', '-')).toContain('--help');
      for (const shell of ['bash', 'zsh', 'fish']) {
        expect(await stage.tool.ok(['completion', shell])).toContain('svcctl __complete');
      }
      expect((await stage.tool.run(['completion', 'tcsh'])).code).toBe(1);
      const folder = tempDir();
      writeFileSync(
        join(folder, 'svcctl'),
        `#!/bin/sh\nexec ${process.execPath} ${join(svcBundle(), 'svcctl.js')} "$@"\n`,
      );
      chmodSync(join(folder, 'svcctl'), 0o755);
      const line = 'svcctl fs ls svc://repo1/main/ty';
      const script = `source <(svcctl completion bash); COMP_LINE='${line}' COMP_POINT=${line.length}; _svcctl 2>/dev/null; echo "\${COMPREPLY[*]}"`;
      const env = { ...stage.tool.environment, PATH: `${folder}:${process.env['PATH'] ?? ''}` };
      await expect
        .poll(() => execFileSync('bash', ['-c', script], { env, encoding: 'utf8' }), patience)
        .toBe('//repo1/main/typed/\n');
    });

    it('cancels an import on a signal', async () => {
      const fake = await FakeServer.start((seen) => {
        if (seen.path.endsWith('/config')) {
          return { status: 200, body: { storage_config: { import_validity_regex: '^s3://' } } };
        }
        if (seen.method === 'POST') return { status: 202, body: { id: 'imp' } };
        if (seen.method === 'DELETE') return { status: 204 };
        if (seen.path.endsWith('/import')) {
          return { status: 200, body: { completed: false, update_time: new Date().toISOString() } };
        }
        return { status: 200, body: { id: 'main', commit_id: 'c' } };
      });
      try {
        const other = new Tool(fake.url);
        const refused = await other.run(['import', '--from', 'gs://b/', '--to', 'svc://repo1/main/']);
        expect(refused.stderr).toContain('does not match');
        const child = other.start(['import', '--from', 's3://b/', '--to', 'svc://repo1/main/x/']);
        const result = collect(child);
        while (!fake.seen.some((seen) => seen.path.endsWith('/import') && seen.method === 'GET')) {
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        child.kill('SIGINT');
        expect(await result).toMatchObject({ code: 1, stderr: expect.stringContaining('import cancelled') });
        expect(fake.seen.at(-1)).toMatchObject({ method: 'DELETE' });
      } finally {
        await fake.stop();
      }
    });

    it('tells how far a collection is, and leaves it going on a signal', async () => {
      const fake = await FakeServer.start((seen) =>
        seen.method === 'POST'
          ? { status: 202, body: { id: 'run1' } }
          : {
              status: 200,
              body: {
                id: 'run1',
                state: 'running',
                phase: 'sweeping',
                done: 3,
                total: 8,
                update_time: new Date().toISOString(),
              },
            },
      );
      try {
        const child = new Tool(fake.url).start(['gc', 'run', 'svc://repo1']);
        const result = collect(child);
        while (!fake.seen.some((seen) => seen.method === 'GET')) {
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        child.kill('SIGINT');
        const { code, stderr } = await result;
        expect(code).toBe(1);
        expect(stderr).toContain('run run1: sweeping, 3 of 8 objects\n');
        expect(stderr).toContain('run run1 goes on. To stop it: svcctl gc cancel svc://repo1 run1');
        expect(fake.seen.some(({ path }) => path.endsWith('/cancel'))).toBe(false);
      } finally {
        await fake.stop();
      }
    });
  });
}
