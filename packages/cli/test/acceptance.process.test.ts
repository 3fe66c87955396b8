import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { svcBundle, tempDir } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect, startSvc, Tool, type Server } from './start-svc.ts';
import { FakeServer } from './fake-server.ts';

let server: Server;
let tool: Tool;
/** Where data lies that can be imported. */
let external: string;

beforeAll(async () => {
  external = tempDir();
  server = await startSvc({
    SVC_BLOCKSTORE_LOCAL_IMPORT_ENABLED: 'true',
    SVC_BLOCKSTORE_LOCAL_ALLOWED_EXTERNAL_PREFIXES: external,
  });
  tool = new Tool(server.url);
  await tool.ok(['repo', 'create', 'svc://repo1', 'local://repo1']);
});

afterAll(async () => {
  await server?.stop();
});

async function put(path: string, text = path): Promise<void> {
  await tool.ok(['fs', 'upload', '-s', '-', `svc://repo1/${path}`], { input: text });
}

describe('objects', () => {
  it('deletes exactly the named object (case 1), and takes ? literally', async () => {
    await Promise.all([put('main/q/a'), put('main/q/a?b')]);
    expect((await tool.run(['fs', 'rm', 'svc://repo1/main/q/a?b'])).code).toBe(0);
    expect(await tool.ok(['fs', 'ls', 'svc://repo1/main/q/'])).toMatch(/ a\n$/);
  });

  it('[fix] never touches the source of an upload, and treats the destination as a folder (case 7)', async () => {
    const source = tempDir();
    mkdirSync(join(source, 'empty'));
    writeFileSync(join(source, 'one'), '1');
    await put('main/up-other/x');
    const text = await tool.ok(['fs', 'upload', '-r', '-s', source, 'svc://repo1/main/up']);
    expect(text).toContain(`diff 'local://${source}/' <--> 'svc://repo1/main/up/'...`);
    expect(text).toContain(
      `${'upload one'.padEnd(40)} ... done!\n\nUpload Summary:\n\nDownloaded: 0\nUploaded: 1\n`,
    );
    expect(readdirSync(source).toSorted()).toEqual(['empty', 'one']);
    const again = await tool.ok(['fs', 'upload', '-r', '-s', source, 'svc://repo1/main/up']);
    expect(again).toContain('Upload Summary:\n\nNo changes\n');
    expect(await tool.ok(['fs', 'ls', '-r', 'svc://repo1/main/up/'])).toMatch(/up\/one\n$/);
  });

  it('downloads nothing outside of its destination (case 8)', async () => {
    await put('main/evil/../../evil-key', 'evil');
    const folder = join(tempDir(), 'inner');
    const result = await tool.run(['fs', 'download', '-r', 'svc://repo1/main/evil/', folder]);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain('refused to write "../../evil-key"');
    expect(existsSync(join(folder, '..', '..', 'evil-key'))).toBe(false);
  });

  it('uploads /dev/null as a marker and standard input as one byte (cases 36 and 37)', async () => {
    await tool.ok(['fs', 'upload', '-s', '/dev/null', 'svc://repo1/main/marked/']);
    const marker = await tool.ok(['fs', 'stat', 'svc://repo1/main/marked/']);
    expect(marker).toContain('Path: marked/\n');
    expect(marker).toContain('Size: 0 bytes\n');
    const stat = await tool.ok(['fs', 'upload', '-s', '-', 'svc://repo1/main/f', '--pre-sign'], {
      input: 'x',
    });
    expect(stat).toContain('Size: 1 bytes\n');
    expect(stat).toContain('Content-Type: application/octet-stream\n');
  });

  it('downloads objects and folders, and says when there is nothing (cases 38 and 39)', async () => {
    await Promise.all([put('main/data/a', 'A'), put('main/data/b/c', 'C')]);
    const folder = tempDir();
    const prefix = await tool.run(['fs', 'download', 'svc://repo1/main/data', folder]);
    expect(prefix).toMatchObject({ code: 1 });
    expect(prefix.stderr).toMatch(/404 Not Found\n$/);
    const single = await tool.run(['fs', 'download', '-r', 'svc://repo1/main/data/a', folder]);
    expect(single).toMatchObject({ code: 1, stdout: '' });
    expect(single.stderr).toBe('No objects in path: svc://repo1/main/data/a/\nCommand failed.\n');
    const all = await tool.ok(['fs', 'download', '-r', 'svc://repo1/main/data', folder]);
    expect(all.split('\n').slice(0, 2).toSorted()).toEqual([
      'download a ... done!',
      'download b/c ... done!',
    ]);
    expect(all).toContain('\n\nDownload Summary:\n\nDownloaded: 2\nUploaded: 0\nRemoved: 0\n\n');
    expect(readFileSync(join(folder, 'b', 'c'), 'utf8')).toBe('C');
    const one = await tool.ok(['fs', 'download', 'svc://repo1/main/data/a', `${folder}/new/`]);
    expect(one).toBe(`download: svc://repo1/main/data/a to ${join(folder, 'new', 'a')}\n`);
    const small = await tool.run(['fs', 'download', '--part-size', '1000', 'svc://repo1/main/data/a']);
    expect(small).toMatchObject({ code: 1 });
    expect(small.stderr).toContain('65536');
  });

  it('copies inside a repository', async () => {
    await put('main/cp/a', 'copied');
    await tool.ok(['fs', 'cp', 'svc://repo1/main/cp/a', 'svc://repo1/main/cp2/']);
    expect(await tool.ok(['fs', 'cat', 'svc://repo1/main/cp2/a'])).toBe('copied');
    expect(await tool.ok(['fs', 'cp', '-r', 'svc://repo1/main/cp', 'svc://repo1/main/cp3'])).toBe(
      'Copied: 1\n',
    );
  });

  it('says which object of a batch could not be deleted (case 40)', async () => {
    const listed = ['a', 'b'].map((path) => ({ path, path_type: 'object', checksum: '', mtime: 1 }));
    const fake = await FakeServer.start((seen) =>
      seen.path.endsWith('/objects/ls')
        ? { status: 200, body: { results: listed, pagination: { has_more: false, next_offset: '' } } }
        : { status: 200, body: { errors: [{ path: 'b', status_code: 403, message: 'not yours' }] } },
    );
    try {
      const result = await new Tool(fake.url).run(['fs', 'rm', '-r', 'svc://repo1/main/']);
      expect(result).toEqual({ code: 1, stdout: '', stderr: 'rm b: [403] not yours\n' });
    } finally {
      await fake.stop();
    }
  });
});

describe('output', () => {
  it('is tab-separated in a pipe, a box when forced and plain with --no-color (case 20)', async () => {
    const row = /^repo1\t\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC\tmain\t\tlocal:\/\/repo1\n\n$/;
    expect(await tool.ok(['repo', 'list', '--prefix', 'repo1'])).toMatch(row);
    const forced = { env: { SVCCTL_INTERACTIVE: 'true' } };
    const box = await tool.ok(['repo', 'list', '--prefix', 'repo1'], forced);
    expect(box).toMatch(/^\+-+\+.*\n\| REPOSITORY \| CREATION DATE .*\n\+-/);
    expect(await tool.ok(['--no-color', 'repo', 'list', '--prefix', 'repo1'], forced)).toMatch(row);
  });

  it('hints at the next page only where a person reads (case 21)', async () => {
    await tool.ok(['branch', 'create', 'svc://repo1/page', '-s', 'svc://repo1/main']);
    const list = ['branch', 'list', 'svc://repo1', '--amount', '1'];
    expect(await tool.ok(list)).not.toContain('--after');
    const forced = await tool.ok(list, { env: { SVCCTL_INTERACTIVE: 'true' } });
    expect(forced).toContain('--amount 1 --after "main"');
  });

  it('names a malformed URI and colours it on a terminal (case 22)', async () => {
    const plain = await tool.run(['repo', 'delete', 'repo1', '-y']);
    expect(plain).toEqual({
      code: 1,
      stdout: '',
      stderr: 'repository URI malformed svc URI\nCommand failed.\n',
    });
    const forced = await tool.run(['repo', 'delete', 'repo1', '-y'], { env: { SVCCTL_INTERACTIVE: 'true' } });
    expect(forced.stderr.startsWith('\u001B[91m')).toBe(true);
  });

  it('completes arguments with the base URI (case 23)', async () => {
    await put('main/path/x');
    const env = { SVCCTL_BASE_URI: 'svc://repo1/main' };
    const listed = await tool.ok(['fs', 'ls', 'path/'], { env });
    expect(listed).toMatch(/ x\n$/);
    expect(await tool.ok(['fs', 'ls', '/path/'], { env })).toBe(listed);
  });

  it('prints API objects with --json', async () => {
    const parsed = JSON.parse(await tool.ok(['repo', 'list', '--json'])) as { results: { id: string }[] };
    expect(parsed.results.map(({ id }) => id)).toContain('repo1');
    expect(JSON.parse(await tool.ok(['identity', '--json']))).toMatchObject({ id: 'quickstart' });
  });

  it('works on a terminal: a box, colours and the hint', async ({ skip }) => {
    const seen = await tool.onTerminal(['branch', 'list', 'svc://repo1', '--amount', '1']);
    if (seen.code === 127 || seen.stdout === '') skip('script of util-linux is not there');
    expect(seen.stdout).toContain('| BRANCH | COMMIT ID');
    expect(seen.stdout).toContain('\u001B[93m--amount 1 --after "main"\u001B[0m');
    const refused = await tool.onTerminal(['repo', 'delete', 'svc://repo1'], { input: 'n\n' });
    expect(refused.stdout).toContain('Delete repository repo1? [y/N]');
    expect(refused.stdout).toContain('delete repository aborted');
    expect(refused.code).toBe(1);
  });

  it('asks before it deletes, after the URI was checked, and takes the answer from a pipe', async () => {
    await tool.ok(['repo', 'create', 'svc://asked', 'local://asked']);
    expect((await tool.run(['repo', 'delete', 'svc://asked'])).stderr).toContain('delete repository aborted');
    expect((await tool.run(['repo', 'delete', 'svc://asked'], { input: 'y\n' })).code).toBe(0);
    const bad = await tool.run(['tag', 'delete', 'svc://repo1'], { input: 'y\n' });
    expect(bad.stderr).not.toContain('[y/N]');
  });
});

describe('commits', () => {
  it('checks the message before anything is sent (case 24)', async () => {
    await tool.ok(['branch', 'create', 'svc://repo1/msg', '-s', 'svc://repo1/main']);
    const blank = await tool.run(['commit', 'svc://repo1/msg', '-m', ' ']);
    expect(blank).toMatchObject({ code: 1, stdout: '' });
    await put('msg/m1');
    const made = await tool.ok(['commit', 'svc://repo1/msg', '-m', ' ', '--allow-empty-message']);
    expect(made).toMatch(
      /^Branch: svc:\/\/repo1\/msg\nCommit for branch "msg" completed\.\n\nID: [0-9a-f]{64}\n/,
    );
    const nothing = await tool.run(['commit', 'svc://repo1/msg', '-m', 'x']);
    expect(nothing).toEqual({
      code: 1,
      stdout: 'Branch: svc://repo1/msg\n',
      stderr: 'commit: no changes\n400 Bad Request\n',
    });
  });

  it('takes metadata like CSV and a date of 0 (cases 25 and 26)', async () => {
    await put('msg/m2');
    const meta = ['--meta', 'a=1,b=x=y', '--meta', '"c=1,2"', '--epoch-time-seconds', '0'];
    await tool.ok(['commit', 'svc://repo1/msg', '-m', 'meta', ...meta]);
    const [commit] = JSON.parse(
      await tool.ok(['log', 'svc://repo1/msg', '--amount', '1', '--json']),
    ) as object[];
    expect(commit).toMatchObject({ creation_date: 0, metadata: { a: '1', b: 'x=y', c: '1,2' } });
    const shown = await tool.ok(['show', 'commit', 'svc://repo1/msg']);
    expect(shown).toContain(
      'Date:          1970-01-01 00:00:00 +0000 UTC\n\n\tmeta\n\nMetadata:\n\t\n\ta                  = 1\n',
    );
  });

  it('merges, tells conflicts and lets one side win (case 27)', async () => {
    await put('main/conflict', 'base');
    await tool.ok(['commit', 'svc://repo1/main', '-m', 'base']);
    await tool.ok(['branch', 'create', 'svc://repo1/left', '-s', 'svc://repo1/main']);
    await put('left/conflict', 'left');
    await tool.ok(['commit', 'svc://repo1/left', '-m', 'left']);
    await put('main/conflict', 'right');
    await tool.ok(['commit', 'svc://repo1/main', '-m', 'right']);
    const merge = ['merge', 'svc://repo1/left', 'svc://repo1/main'];
    const clash = await tool.run(merge);
    expect(clash.code).toBe(1);
    expect(clash.stdout).toBe('Source: svc://repo1/left\nDestination: svc://repo1/main\n');
    expect(clash.stderr).toMatch(/^Conflict found\.\n\* conflict conflict\n/);
    expect(await tool.ok(['fs', 'cat', 'svc://repo1/main/conflict'])).toBe('right');
    expect((await tool.run([...merge, '--strategy', 'ours'])).stderr).toMatch(/^Error: /);
    await tool.ok([...merge, '--strategy', 'source-wins']);
    expect(await tool.ok(['fs', 'cat', 'svc://repo1/main/conflict'])).toBe('left');
    const noMerges = await tool.ok(['log', 'svc://repo1/main', '--no-merges', '--amount', '50']);
    expect(noMerges).not.toContain('Merge:');
    const dot = await tool.ok(['log', 'svc://repo1/main', '--dot']);
    expect(dot).toMatch(/^digraph \{\nrankdir="BT"\n[\s\S]*\n\}\n$/);
    expect(dot).toContain('<b>');
  });

  it('shows differences of branches and refs (cases 30 and 31)', async () => {
    await tool.ok(['branch', 'create', 'svc://repo1/dev', '-s', 'svc://repo1/main']);
    await Promise.all([put('dev/x/1'), put('dev/y/1')]);
    expect(await tool.ok(['diff', 'svc://repo1/dev', '--prefix', 'x/'])).toBe(
      'Ref: svc://repo1/dev\n+ added x/1\n',
    );
    const two = await tool.ok(['diff', '--two-way', 'svc://repo1/main', 'svc://repo1/dev$']);
    expect(two).toContain('+ added x/1\n+ added y/1\n');
  });

  it('leaves a tag alone when its new commit does not exist (case 48)', async () => {
    await tool.ok(['tag', 'create', 'svc://repo1/v1', 'svc://repo1/main']);
    const before = await tool.ok(['tag', 'show', 'svc://repo1/v1']);
    const moved = await tool.run(['tag', 'create', '-f', 'svc://repo1/v1', 'svc://repo1/nowhere']);
    expect(moved).toMatchObject({ code: 1 });
    expect(moved.stderr).toMatch(/404 Not Found\n$/);
    expect(await tool.ok(['tag', 'show', 'svc://repo1/v1'])).toBe(before);
  });

  it('bisects by hand and by a command (case 4)', async () => {
    await tool.ok(['repo', 'create', 'svc://bisected', 'local://bisected']);
    const ids: string[] = [];
    for (const name of ['good', 'c0', 'c1', 'c2', 'c3', 'c4']) {
      await tool.ok(['commit', 'svc://bisected/main', '--allow-empty-commit', '-m', name]);
    }
    const log = JSON.parse(await tool.ok(['log', 'svc://bisected/main', '--json'])) as {
      id: string;
      message: string;
    }[];
    for (const { id } of log) ids.push(id);
    const good = `svc://bisected/${log.find(({ message }) => message === 'good')?.id}`;
    const start = ['bisect', 'start', 'svc://bisected/main', good];
    expect(await tool.ok(start)).toBe(
      `Repository: bisected\nBisecting: 2 commits left to test after this, roughly 2 steps\nCurrent commit: svc://bisected/${ids[2]} c2\n`,
    );
    expect(await tool.ok(['bisect', 'good'])).toContain(`Current commit: svc://bisected/${ids[1]} c3\n`);
    expect(await tool.ok(['bisect', 'bad'])).toContain(`Found commit: svc://bisected/${ids[1]} c3\n`);
    await tool.ok(start);
    const command = ['bisect', 'run', 'sh', '-c', 'case "$0" in c3|c4) exit 1;; esac', ':BISECT_MESSAGE:'];
    expect(await tool.ok(command)).toContain(`Found commit: svc://bisected/${ids[1]} c3\n`);
    await tool.ok(['bisect', 'reset']);
    expect((await tool.run(['bisect', 'log'])).code).toBe(1);
  });
});

describe('administration', () => {
  it('adds the caller to a group when no user is named (case 49)', async () => {
    await tool.ok(['auth', 'groups', 'create', '--id', 'testers']);
    expect(await tool.ok(['auth', 'groups', 'members', 'add', '--id', 'testers'])).toBe(
      'User quickstart added to group testers\n',
    );
    expect(await tool.ok(['auth', 'groups', 'members', 'list', '--id', 'testers'])).toBe('quickstart\n\n');
  });

  it('manages users, keys and policies', async () => {
    expect(await tool.ok(['auth', 'users', 'create', '--id', 'ann'])).toMatch(
      /^User created successfully\.\nID: ann\nCreation Date: /,
    );
    const made = await tool.ok(['auth', 'users', 'credentials', 'create', '--id', 'ann']);
    const key = /Access Key ID: (\S+)/.exec(made)?.[1] ?? '';
    expect(await tool.ok(['auth', 'users', 'credentials', 'list', '--id', 'ann'])).toContain(key);
    await tool.ok(['auth', 'users', 'credentials', 'delete', '--id', 'ann', '--access-key-id', key]);
    const document = JSON.stringify({
      statement: [{ action: ['fs:ReadObject', 'fs:ListObjects'], effect: 'allow', resource: '*' }],
    });
    const policy = ['auth', 'policies', 'create', '--id', 'readers', '--statement-document', '-'];
    expect(await tool.ok(policy, { input: document })).toContain(
      'Policy created successfully.\n\nID: readers\n',
    );
    await tool.ok(['auth', 'users', 'policies', 'attach', '--id', 'ann', '--policy', 'readers']);
    expect(await tool.ok(['auth', 'users', 'policies', 'list', '--id', 'ann'])).toMatch(
      /^readers\t.*\t0\t\*\tallow\tfs:ReadObject, fs:ListObjects\n\n$/,
    );
    await tool.ok(['auth', 'users', 'policies', 'detach', '--id', 'ann', '--policy', 'readers']);
    await tool.ok(['auth', 'policies', 'delete', '--id', 'readers']);
    expect(await tool.ok(['auth', 'users', 'delete', '--id', 'ann'])).toBe('User deleted: ann\n');
  });

  it('keeps garbage collection rules', async () => {
    const rules = { default_retention_days: 7, branches: [{ branch_id: 'main', retention_days: 9 }] };
    const missing = await tool.run(['gc', 'get-config', 'svc://repo1']);
    expect(missing.stderr).toMatch(/404 Not Found\n$/);
    expect(
      await tool.ok(['gc', 'set-config', 'svc://repo1', '-f', '-'], { input: JSON.stringify(rules) }),
    ).toBe('');
    expect(await tool.ok(['gc', 'get-config', 'svc://repo1'])).toBe(
      'Default retention days: 7\nBranch: main\nRetention days: 9\n',
    );
    expect(JSON.parse(await tool.ok(['gc', 'get-config', '--json', 'svc://repo1']))).toEqual(rules);
    expect(await tool.ok(['gc', 'delete-config', 'svc://repo1'])).toBe('');
  });

  it('protects branches', async () => {
    await tool.ok(['branch-protect', 'add', 'svc://repo1', 'stable-*']);
    expect(await tool.ok(['branch-protect', 'list', 'svc://repo1'])).toBe('stable-*\n\n');
    await tool.ok(['branch-protect', 'delete', 'svc://repo1', 'stable-*']);
    expect((await tool.run(['branch-protect', 'delete', 'svc://repo1', 'stable-*'])).code).toBe(1);
  });

  it('diagnoses the configuration (case 44)', async () => {
    const doctor = (env: Record<string, string> = {}) => tool.run(['doctor'], { env });
    expect(await doctor()).toMatchObject({ code: 0, stdout: 'LGTM! Found a valid configuration.\n' });
    const secret = await doctor({ SVCCTL_CREDENTIALS_SECRET_ACCESS_KEY: 'wrong' });
    expect(secret.code).toBe(0);
    expect(secret.stdout).toContain('It looks like the access key id or the secret access key is wrong.\n');
    expect(secret.stdout).toContain('error authenticating request');
    const path = await doctor({ SVCCTL_SERVER_ENDPOINT_URL: `${server.url}/api/v11` });
    expect(path.code).toBe(0);
    expect(path.stdout).toContain('server.endpoint_url is suspicious');
    const nonsense = await doctor({ SVCCTL_SERVER_ENDPOINT_URL: 'wrong_uri' });
    expect(nonsense.code).toBe(0);
    expect(nonsense.stdout).toContain('It looks like the endpoint URL is wrong.\n');
  });

  it('dumps refs and restores them into a bare repository (case 46)', async () => {
    await tool.ok(['repo', 'create', 'svc://dumped', 'local://dumped']);
    const manifest = await tool.ok(['refs-dump', 'svc://dumped']);
    expect(Object.keys(JSON.parse(manifest) as object)).toEqual([
      'branches_meta_range_id',
      'commits_meta_range_id',
      'tags_meta_range_id',
    ]);
    const head = await tool.ok(['branch', 'show', 'svc://dumped/main']);
    const quick = await tool.run(['refs-dump', 'svc://dumped', '--poll-interval', '100ms']);
    expect(quick).toEqual({ code: 1, stdout: '', stderr: 'Error: --poll-interval must be at least 1s\n' });
    await tool.ok(['repo', 'delete', 'svc://dumped', '-y']);
    await tool.ok(['repo', 'create-bare', 'svc://dumped', 'local://dumped']);
    await tool.ok(['refs-restore', 'svc://dumped', '--manifest', '-'], { input: manifest });
    expect(await tool.ok(['branch', 'show', 'svc://dumped/main'])).toBe(head);
  });

  it('shows the records of a committed tree', async () => {
    const folder = join(server.home, 'svc', 'data', 'block', 'repo1', '_svc');
    const files = readdirSync(folder).map((name) => join(folder, name));
    const tables = await Promise.all(files.slice(0, 3).map((file) => tool.ok(['cat-sst', file])));
    expect(tables.join('')).toMatch(/\t/);
    const both = await tool.run(['cat-sst', files[0] ?? '', '-f', 'other']);
    expect(both.stderr).toBe('Error: the argument and --file name different files\n');
  });

  it('imports what lies in the store already', async () => {
    mkdirSync(join(external, 'raw', 'x'), { recursive: true });
    for (const name of ['a', 'x/b']) writeFileSync(join(external, 'raw', name), name);
    const from = `local://${join(external, 'raw')}/`;
    const result = await tool.run([
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
    expect(await tool.ok(['fs', 'cat', 'svc://repo1/main/imported/x/b'])).toBe('x/b');
    const absent = await tool.run(['import', '--from', from, '--to', 'svc://repo1/nowhere/x']);
    expect(absent.stderr).toContain("branch 'nowhere' does not exist");
  });

  it('says who asks, and counts calls', async () => {
    expect(await tool.ok(['identity'])).toMatch(
      /^User ID: quickstart\nEmail: \nCreation Date: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC\n$/,
    );
    expect(await tool.ok(['usage', 'summary'])).toMatch(
      /^Usage for installation ID: \S+\n\n(\d+\t\d+\t\d+\n)*\n$/,
    );
    const task = /Task ID: (\S+)/.exec(await tool.ok(['gc', 'prepare-async', 'svc://repo1']))?.[1] ?? '';
    const state = await tool.ok(['gc', 'check-async', 'svc://repo1', '--id', task]);
    expect(state).toMatch(new RegExp(`^Task ID: ${task}\\nStatus: (Running|Completed)\\n`));
    const presign = await tool.run(['fs', 'presign', 'svc://repo1/main/conflict']);
    expect(presign.stderr).toContain('does not support pre-signed URLs');
  });

  it('puts every kind of load on a server', async () => {
    await tool.ok(['branch', 'create', 'svc://repo1/load', '-s', 'svc://repo1/main']);
    const few = ['--amount', '3', '--parallelism', '2'];
    const keys = { input: 'abuse/file-1\nabuse/file-2\n' };
    await tool.ok(['abuse', 'random-write', 'svc://repo1/load', ...few]);
    const texts = await Promise.all([
      tool.ok(['abuse', 'list', 'svc://repo1/load', ...few]),
      tool.ok(['abuse', 'link-same-object', 'svc://repo1/load', ...few]),
      tool.ok(['abuse', 'random-read', 'svc://repo1/load', '--from-file', '-', ...few], keys),
      tool.ok(['abuse', 'create-branches', 'svc://repo1/main', '--branch-prefix', 'abused', ...few]),
      tool.ok(['abuse', 'commit', 'svc://repo1/page', '--amount', '3', '--gap', '1ms']),
    ]);
    for (const text of texts) expect(text).toMatch(/3 total with 0 failures/);
    expect(texts[2]).toContain('Read 2 keys from file\n');
    const merged = await tool.ok([
      'abuse',
      'merge',
      'svc://repo1/page',
      '--amount',
      '2',
      '--parallelism',
      '1',
    ]);
    expect(merged).toContain('2 total with 0 failures');
    expect(await tool.ok(['branch', 'list', 'svc://repo1', '--prefix', 'merge-'])).toBe('\n');
    await tool.ok(['abuse', 'random-delete', 'svc://repo1/load', '--from-file', '-', ...few], keys);
  });

  it('measures load', async () => {
    const text = await tool.ok([
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
    const text = await tool.ok(['blame', 'svc://repo1/main/conflict']);
    expect(text).toMatch(/^conflict {8}quickstart {11}[0-9a-f]{16} {5}\d{4}-.* {2}(left|right)\n$/);
  });
});

describe('configuration and plugins', () => {
  it('refuses a missing file that was named (case 43)', async () => {
    const missing = await tool.run(['-c', 'missing.yaml', 'repo', 'list']);
    expect(missing).toMatchObject({ code: 1 });
    expect(missing.stderr).toContain('error reading configuration file');
  });

  it('writes the file from three answers, readable for its owner only', async () => {
    const home = tempDir();
    const own = new Tool(server.url, home);
    const file = join(home, '.svcctl.yaml');
    writeFileSync(file, '# mine\nlocal:\n  symlink_support: true\n');
    const result = await own.run(['config'], { input: `ID1\nSECRET1\nnonsense\n${server.url}\n` });
    expect(result).toMatchObject({ code: 0, stdout: `Config file ${file} will be used\n` });
    expect(result.stderr).toContain('"nonsense" is not an absolute URL');
    expect(readFileSync(file, 'utf8')).toBe(
      `# mine\nlocal:\n  symlink_support: true\ncredentials:\n  access_key_id: ID1\n  secret_access_key: SECRET1\nserver:\n  endpoint_url: ${server.url}\n`,
    );
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const before = readFileSync(file, 'utf8');
    expect(await own.run(['config'], { input: 'only\n' })).toMatchObject({ code: 1 });
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it('runs plugins and passes their status through (case 45)', async () => {
    const folder = tempDir();
    const plugin = join(folder, 'svcctl-foo');
    writeFileSync(plugin, '#!/bin/sh\necho "$@"\nexit 7\n');
    chmodSync(plugin, 0o755);
    const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}` };
    expect(await tool.run(['foo', '--x', '1'], { env })).toEqual({ code: 7, stdout: '--x 1\n', stderr: '' });
    expect(await tool.ok(['plugin', 'list'], { env })).toContain('\n  foo\n');
    const none = await tool.run(['foo', '--x', '1']);
    expect(none).toMatchObject({ code: 1 });
    expect(none.stderr).toBe('Error: unknown command "foo" for "svcctl"\nRun \'svcctl --help\' for usage.\n');
  });

  it('logs where it is told to, and tells its own server which command was used', async () => {
    const page = { results: [], pagination: { has_more: false, next_offset: '' } };
    const fake = await FakeServer.start(() => ({ status: 200, body: page }));
    try {
      const file = join(tempDir(), 'log');
      const flags = ['--log-level', 'debug', '--log-format', 'json', '--log-output', file];
      await new Tool(fake.url).ok(['repo', 'list', ...flags]);
      const lines = readFileSync(file, 'utf8').trim().split('\n');
      const requests = lines.map((line) => JSON.parse(line) as { url: string; status: number });
      expect(requests.map(({ url }) => url)).toContain(`${fake.url}/api/v1/repositories`);
      expect(fake.statistics).toEqual(['{"events":[{"class":"svcctl","name":"repo_list","count":1}]}']);
      expect(fake.seen[0]?.headers['user-agent']).toMatch(/^svcctl\/\d+\.\d+\.\d+\//);
    } finally {
      await fake.stop();
    }
  });

  it('gives up on a dead server after one sequence of retries (case 42)', async () => {
    const started = Date.now();
    const dead = await tool.run(['repo', 'list'], {
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
      (await tool.ok(['__complete', ...words])).split('\n').filter((line) => line !== '');
    await put('main/typed/a');
    // There are no offers when the server takes longer than a person who types would wait.
    const patience = { timeout: 30_000 };
    await expect.poll(() => offers('fs', 'ls', 'svc://rep'), patience).toEqual(['svc://repo1/']);
    await expect.poll(() => offers('fs', 'ls', 'svc://repo1/ma'), patience).toEqual(['svc://repo1/main/']);
    await expect
      .poll(() => offers('fs', 'ls', 'svc://repo1/main/ty'), patience)
      .toEqual(['svc://repo1/main/typed/']);
    expect(await offers('branch', '-')).toContain('--help');
    for (const shell of ['bash', 'zsh', 'fish']) {
      expect(await tool.ok(['completion', shell])).toContain('svcctl __complete');
    }
    expect((await tool.run(['completion', 'tcsh'])).code).toBe(1);
    const folder = tempDir();
    writeFileSync(
      join(folder, 'svcctl'),
      `#!/bin/sh\nexec ${process.execPath} ${join(svcBundle(), 'svcctl.js')} "$@"\n`,
    );
    chmodSync(join(folder, 'svcctl'), 0o755);
    const line = 'svcctl fs ls svc://repo1/main/ty';
    const script = `source <(svcctl completion bash); COMP_LINE='${line}' COMP_POINT=${line.length}; _svcctl 2>/dev/null; echo "\${COMPREPLY[*]}"`;
    const env = { ...tool.environment, PATH: `${folder}:${process.env['PATH'] ?? ''}` };
    await expect
      .poll(() => execFileSync('bash', ['-c', script], { env, encoding: 'utf8' }), patience)
      .toBe('//repo1/main/typed/\n');
  });

  it('cancels an import on a signal (case 47)', async () => {
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
});
