import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { FakeServer } from '../fake-server.ts';
import { Tool } from '../start-svc.ts';
import type { Stage } from './stage.ts';

export function administrationTests(stage: Stage): void {
  describe('administration', () => {
    it('adds the caller to a group when no user is named', async () => {
      await stage.tool.ok(['auth', 'groups', 'create', '--id', 'testers']);
      expect(await stage.tool.ok(['auth', 'groups', 'members', 'add', '--id', 'testers'])).toBe(
        'User quickstart added to group testers\n',
      );
      expect(await stage.tool.ok(['auth', 'groups', 'members', 'list', '--id', 'testers'])).toBe(
        'quickstart\n\n',
      );
    });

    it('manages users, keys and policies', async () => {
      expect(await stage.tool.ok(['auth', 'users', 'create', '--id', 'ann'])).toMatch(
        /^User created successfully\.\nID: ann\nCreation Date: /,
      );
      const made = await stage.tool.ok(['auth', 'users', 'credentials', 'create', '--id', 'ann']);
      const key = /Access Key ID: (\S+)/.exec(made)?.[1] ?? '';
      expect(await stage.tool.ok(['auth', 'users', 'credentials', 'list', '--id', 'ann'])).toContain(key);
      await stage.tool.ok(['auth', 'users', 'credentials', 'delete', '--id', 'ann', '--access-key-id', key]);
      const document = JSON.stringify({
        statement: [{ action: ['fs:ReadObject', 'fs:ListObjects'], effect: 'allow', resource: '*' }],
      });
      const policy = ['auth', 'policies', 'create', '--id', 'readers', '--statement-document', '-'];
      expect(await stage.tool.ok(policy, { input: document })).toContain(
        'Policy created successfully.\n\nID: readers\n',
      );
      await stage.tool.ok(['auth', 'users', 'policies', 'attach', '--id', 'ann', '--policy', 'readers']);
      expect(await stage.tool.ok(['auth', 'users', 'policies', 'list', '--id', 'ann'])).toMatch(
        /^readers\t.*\t0\t\*\tallow\tfs:ReadObject, fs:ListObjects\n\n$/,
      );
      await stage.tool.ok(['auth', 'users', 'policies', 'detach', '--id', 'ann', '--policy', 'readers']);
      await stage.tool.ok(['auth', 'policies', 'delete', '--id', 'readers']);
      expect(await stage.tool.ok(['auth', 'users', 'delete', '--id', 'ann'])).toBe('User deleted: ann\n');
    });

    it('tells why somebody may do something, who did what, and where one is logged in', async () => {
      const asked = ['auth', 'simulate', '--action', 'fs:ReadObject', '--resource', '*'];
      const told = await stage.tool.ok(asked);
      expect(told).toMatch(/^Allowed\nDecided by: FSFullAccess, statement 1\n/);
      expect(told).toContain('AuthFullAccess\tgroup Admins\n');
      await stage.tool.ok(['auth', 'users', 'create', '--id', 'idle']);
      expect(await stage.tool.ok([...asked, '--id', 'idle'])).toMatch(
        /^Not allowed: no statement speaks of it\n/,
      );
      const draft = { id: 'draft', statement: [{ action: ['fs:*'], effect: 'deny', resource: '*' }] };
      const tried = [...asked, '--id', 'idle', '--policy', '-'];
      expect(await stage.tool.ok(tried, { input: JSON.stringify(draft) })).toMatch(
        /^Denied by a statement\n/,
      );
      const audited = ['audit', '--action', 'createUser', '--resource', 'arn:svc:auth:::user/idle'];
      await waitUntil(async () =>
        /\tquickstart\tcreateUser\t.*\tsuccess \(201\)\t127\.0\.0\.1\n/.test(await stage.tool.ok(audited)),
      );
      expect(await stage.tool.ok(['auth', 'users', 'sessions', 'list', '--id', 'idle'])).toBe('\n');
      expect(await stage.tool.ok(['auth', 'users', 'sessions', 'end', '--id', 'idle', '--all'])).toBe(
        'All sessions ended\n',
      );
      await stage.tool.ok(['auth', 'users', 'delete', '--id', 'idle']);
    });

    it('keeps garbage collection rules', async () => {
      const rules = { default_retention_days: 7, branches: [{ branch_id: 'main', retention_days: 9 }] };
      const missing = await stage.tool.run(['gc', 'get-config', 'svc://repo1']);
      expect(missing.stderr).toMatch(/404 Not Found\n$/);
      expect(
        await stage.tool.ok(['gc', 'set-config', 'svc://repo1', '-f', '-'], { input: JSON.stringify(rules) }),
      ).toBe('');
      expect(await stage.tool.ok(['gc', 'get-config', 'svc://repo1'])).toBe(
        'Default retention days: 7\nBranch: main\nRetention days: 9\n',
      );
      expect(JSON.parse(await stage.tool.ok(['gc', 'get-config', '--json', 'svc://repo1']))).toEqual(rules);
      expect(await stage.tool.ok(['gc', 'delete-config', 'svc://repo1'])).toBe('');
      const trial = ['gc', 'run', 'svc://repo1', '--rules', '-'];
      const report = await stage.tool.ok([...trial, '--dry-run'], { input: JSON.stringify(rules) });
      expect(report).toMatch(/^Run: \S+ \(dry run\)$/m);
      expect(report).toMatch(/^expired\b/m);
      expect(report).toMatch(/^branch main\b/m);
      const refused = await stage.tool.run(trial, { input: JSON.stringify(rules) });
      expect([refused.code, refused.stderr]).toEqual([
        expect.any(Number),
        expect.stringContaining('--dry-run'),
      ]);
    });

    it('checks the action files of a ref, all of them, and shows what hooks wrote', async () => {
      await stage.tool.ok(['repo', 'create', 'svc://hooked', 'local://hooked']);
      const validate = ['actions', 'validate', 'svc://hooked/main'];
      expect(await stage.tool.ok(validate)).toBe("No action files in 'svc://hooked/main'\n");
      const upload = (path: string, input: string): Promise<string> =>
        stage.tool.ok(['fs', 'upload', '-s', '-', `svc://hooked/main/${path}`], { input });
      const good = (name: string): string =>
        `name: ${name}\non: {pre-commit: }\nhooks: [{id: says, type: lua, properties: {script: 'print("hello")'}}]\n`;
      await upload('_svc_actions/a.yaml', good('first one'));
      expect(await stage.tool.ok(validate)).toBe("File validated successfully: '_svc_actions/a.yaml'\n");
      await upload('_svc_actions/b.yaml', 'name: bad\non:\n  pre-lunch:\n');
      // Only the first of two files with one name counts.
      await upload('_lakefs_actions/a.yaml', 'nonsense');
      await upload('_lakefs_actions/c.yaml', good('first one'));
      const { code, stderr } = await stage.tool.run(validate);
      expect(code).toBe(1);
      expect(stderr).toContain("_svc_actions/b.yaml:3: event 'pre-lunch' is not supported: invalid action\n");
      expect(stderr).toContain("_lakefs_actions/c.yaml:1: action name 'first one' already loaded");
      expect(stderr).not.toContain('_lakefs_actions/a.yaml');
      for (const path of ['_svc_actions/b.yaml', '_lakefs_actions/c.yaml', '_lakefs_actions/a.yaml'])
        await stage.tool.ok(['fs', 'rm', `svc://hooked/main/${path}`]);
      await stage.tool.ok(['commit', 'svc://hooked/main', '-m', 'with a hook']);
      const run = (await stage.tool.ok(['actions', 'runs', 'list', 'svc://hooked'])).split('\t')[0] ?? '';
      expect(await stage.tool.ok(['cat-hook-output', 'svc://hooked', run, '0000_0000'])).toBe(
        'Repository: svc://hooked\nhello\n\n',
      );
      const refused = await stage.tool.run(['actions', 'runs', 'rerun', 'svc://hooked', run]);
      expect(refused.stderr).toContain('only hooks after an event can run again');
    });

    it('says that hooks are switched off, and names the run that was wanted again', async () => {
      const fake = await FakeServer.start(({ path, method }) => {
        const isConfig = path === '/api/v1/config';
        if (isConfig) return { status: 200, body: { capabilities_config: { actions_enabled: false } } };
        if (method === 'POST') return { status: 202, body: { run_id: 'newrun' } };
        return { status: 200, body: { pagination: { has_more: false, next_offset: '' }, results: [] } };
      });
      const tool = new Tool(fake.url);
      const listed = await tool.run(['actions', 'runs', 'list', 'svc://hooked']);
      expect(listed).toMatchObject({ code: 0 });
      expect(listed.stderr).toContain('hooks are switched off on this server (actions.enabled)');
      const validated = await tool.run(['actions', 'validate', 'svc://hooked/main']);
      expect(validated.stderr).toContain('action files have no effect');
      expect(await tool.ok(['actions', 'runs', 'rerun', 'svc://hooked', 'oldrun'])).toBe('Run ID: newrun\n');
      expect(fake.seen.at(-1)).toMatchObject({
        method: 'POST',
        path: '/api/v1/repositories/hooked/actions/runs/oldrun/rerun',
      });
      await fake.stop();
    });

    it('protects branches', async () => {
      await stage.tool.ok(['branch-protect', 'add', 'svc://repo1', 'stable-*']);
      expect(await stage.tool.ok(['branch-protect', 'list', 'svc://repo1'])).toBe('stable-*\n\n');
      await stage.tool.ok(['branch-protect', 'delete', 'svc://repo1', 'stable-*']);
      expect((await stage.tool.run(['branch-protect', 'delete', 'svc://repo1', 'stable-*'])).code).toBe(1);
    });

    it('diagnoses the configuration', async () => {
      const doctor = (env: Record<string, string> = {}) => stage.tool.run(['doctor'], { env });
      expect(await doctor()).toMatchObject({ code: 0, stdout: 'LGTM! Found a valid configuration.\n' });
      const secret = await doctor({ SVCCTL_CREDENTIALS_SECRET_ACCESS_KEY: 'wrong' });
      expect(secret.code).toBe(0);
      expect(secret.stdout).toContain('It looks like the access key id or the secret access key is wrong.\n');
      expect(secret.stdout).toContain('error authenticating request');
      const path = await doctor({ SVCCTL_SERVER_ENDPOINT_URL: `${stage.server.url}/api/v11` });
      expect(path.code).toBe(0);
      expect(path.stdout).toContain('server.endpoint_url is suspicious');
      const nonsense = await doctor({ SVCCTL_SERVER_ENDPOINT_URL: 'wrong_uri' });
      expect(nonsense.code).toBe(0);
      expect(nonsense.stdout).toContain('It looks like the endpoint URL is wrong.\n');
    });

    it('dumps refs and restores them into a bare repository', async () => {
      await stage.tool.ok(['repo', 'create', 'svc://dumped', 'local://dumped']);
      const manifest = await stage.tool.ok(['refs-dump', 'svc://dumped']);
      expect(Object.keys(JSON.parse(manifest) as object)).toEqual([
        'branches_meta_range_id',
        'commits_meta_range_id',
        'tags_meta_range_id',
      ]);
      const head = await stage.tool.ok(['branch', 'show', 'svc://dumped/main']);
      const quick = await stage.tool.run(['refs-dump', 'svc://dumped', '--poll-interval', '100ms']);
      expect(quick).toEqual({ code: 1, stdout: '', stderr: 'Error: --poll-interval must be at least 1s\n' });
      await stage.tool.ok(['repo', 'delete', 'svc://dumped', '-y']);
      await stage.tool.ok(['repo', 'create-bare', 'svc://dumped', 'local://dumped']);
      await stage.tool.ok(['refs-restore', 'svc://dumped', '--manifest', '-'], { input: manifest });
      expect(await stage.tool.ok(['branch', 'show', 'svc://dumped/main'])).toBe(head);
    });

    it('shows the records of a committed tree', async () => {
      const folder = join(stage.server.home, 'svc', 'data', 'block', 'repo1', '_svc');
      const files = readdirSync(folder).map((name) => join(folder, name));
      const tables = await Promise.all(files.slice(0, 3).map((file) => stage.tool.ok(['cat-sst', file])));
      expect(tables.join('')).toMatch(/\t/);
      const both = await stage.tool.run(['cat-sst', files[0] ?? '', '-f', 'other']);
      expect(both.stderr).toBe('Error: the argument and --file name different files\n');
    });

    it('imports what lies in the store already', async () => {
      mkdirSync(join(stage.external, 'raw', 'x'), { recursive: true });
      for (const name of ['a', 'x/b']) writeFileSync(join(stage.external, 'raw', name), name);
      const from = `local://${join(stage.external, 'raw')}/`;
      const result = await stage.tool.run([
        'import',
        '--from',
        from,
        '--to',
        'svc://repo1/main/imported/',
        '-m',
        'bring',
      ]);
      expect(result.stderr).toMatch(/\d+ objects imported \(\d+\/s\)\n/);
      expect(result.stdout).toMatch(
        /^Imported 2 objects into branch 'main'\.\nMetaRange ID: [0-9a-f]{64}\nCommit ID: [0-9a-f]{64}\nMessage: bring\nTimestamp: .*\nParents: /,
      );
      expect(await stage.tool.ok(['fs', 'cat', 'svc://repo1/main/imported/x/b'])).toBe('x/b');
      const absent = await stage.tool.run(['import', '--from', from, '--to', 'svc://repo1/nowhere/x']);
      expect(absent.stderr).toContain("branch 'nowhere' does not exist");
    });

    it('says who asks, and counts calls', async () => {
      expect(await stage.tool.ok(['identity'])).toMatch(
        /^User ID: quickstart\nEmail: \nCreation Date: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC\n$/,
      );
      expect(await stage.tool.ok(['usage', 'summary'])).toMatch(
        /^Usage for installation ID: \S+\n\n(\d+\t\d+\t\d+\n)*\n$/,
      );
      const task =
        /Task ID: (\S+)/.exec(await stage.tool.ok(['gc', 'prepare-async', 'svc://repo1']))?.[1] ?? '';
      const state = await stage.tool.ok(['gc', 'check-async', 'svc://repo1', '--id', task]);
      expect(state).toMatch(new RegExp(`^Task ID: ${task}\\nStatus: (Running|Completed)\\n`));
      const presign = await stage.tool.run(['fs', 'presign', 'svc://repo1/main/conflict']);
      expect(presign.stderr).toContain('does not support pre-signed URLs');
    });

    it('puts every kind of load on a server', async () => {
      await stage.tool.ok(['branch', 'create', 'svc://repo1/load', '-s', 'svc://repo1/main']);
      const few = ['--amount', '3', '--parallelism', '2'];
      const keys = { input: 'abuse/file-1\nabuse/file-2\n' };
      await stage.tool.ok(['abuse', 'random-write', 'svc://repo1/load', ...few]);
      const texts = await Promise.all([
        stage.tool.ok(['abuse', 'list', 'svc://repo1/load', ...few]),
        stage.tool.ok(['abuse', 'link-same-object', 'svc://repo1/load', ...few]),
        stage.tool.ok(['abuse', 'random-read', 'svc://repo1/load', '--from-file', '-', ...few], keys),
        stage.tool.ok(['abuse', 'create-branches', 'svc://repo1/main', '--branch-prefix', 'abused', ...few]),
        stage.tool.ok(['abuse', 'commit', 'svc://repo1/page', '--amount', '3', '--gap', '1ms']),
      ]);
      for (const text of texts) expect(text).toMatch(/3 total with 0 failures/);
      expect(texts[2]).toContain('Read 2 keys from file\n');
      const merged = await stage.tool.ok([
        'abuse',
        'merge',
        'svc://repo1/page',
        '--amount',
        '2',
        '--parallelism',
        '1',
      ]);
      expect(merged).toContain('2 total with 0 failures');
      expect(await stage.tool.ok(['branch', 'list', 'svc://repo1', '--prefix', 'merge-'])).toBe('\n');
      await stage.tool.ok(['abuse', 'random-delete', 'svc://repo1/load', '--from-file', '-', ...few], keys);
    });

    it('measures load', async () => {
      const text = await stage.tool.ok([
        'abuse',
        'random-write',
        'svc://repo1/main',
        '--amount',
        '20',
        '--parallelism',
        '5',
      ]);
      expect(text).toContain('Source branch: svc://repo1/main\n');
      expect(text).toMatch(
        /completed: 20, errors: 0, current rate: [\d.]+ done\/second\n\n20 total with 0 failures in /,
      );
      expect(text).toMatch(/Histogram \(ms\):\n1\t\d+\n[\s\S]*\ntotal\t20\n\n$/);
    });

    it('annotates paths', async () => {
      const text = await stage.tool.ok(['blame', 'svc://repo1/main/conflict']);
      expect(text).toMatch(/^conflict {8}quickstart {11}[0-9a-f]{16} {5}\d{4}-.* {2}(left|right)\n$/);
    });
  });
}
