import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import type { Stage } from './stage.ts';

export function commitsTests(stage: Stage): void {
  describe('commits', () => {
    it('checks the message before anything is sent', async () => {
      await stage.tool.ok(['branch', 'create', 'svc://repo1/msg', '-s', 'svc://repo1/main']);
      const blank = await stage.tool.run(['commit', 'svc://repo1/msg', '-m', ' ']);
      expect(blank).toMatchObject({ code: 1, stdout: '' });
      await stage.put('msg/m1');
      const made = await stage.tool.ok(['commit', 'svc://repo1/msg', '-m', ' ', '--allow-empty-message']);
      expect(made).toMatch(
        /^Branch: svc:\/\/repo1\/msg\nCommit for branch "msg" completed\.\n\nID: [0-9a-f]{64}\n/,
      );
      const nothing = await stage.tool.run(['commit', 'svc://repo1/msg', '-m', 'x']);
      expect(nothing).toEqual({
        code: 1,
        stdout: 'Branch: svc://repo1/msg\n',
        stderr: 'commit: no changes\n400 Bad Request\n',
      });
    });

    it('takes metadata like CSV and a date of 0', async () => {
      await stage.put('msg/m2');
      const meta = ['--meta', 'a=1,b=x=y', '--meta', '"c=1,2"', '--epoch-time-seconds', '0'];
      await stage.tool.ok(['commit', 'svc://repo1/msg', '-m', 'meta', ...meta]);
      const [commit] = JSON.parse(
        await stage.tool.ok(['log', 'svc://repo1/msg', '--amount', '1', '--json']),
      ) as object[];
      expect(commit).toMatchObject({ creation_date: 0, metadata: { a: '1', b: 'x=y', c: '1,2' } });
      const shown = await stage.tool.ok(['show', 'commit', 'svc://repo1/msg']);
      expect(shown).toContain(
        'Date:          1970-01-01 00:00:00 +0000 UTC\n\n\tmeta\n\nMetadata:\n\t\n\ta                  = 1\n',
      );
    });

    it('reads one state of a branch at a time', async () => {
      await stage.tool.ok(['branch', 'create', 'svc://repo1/then', '-s', 'svc://repo1/main']);
      await stage.put('then/t/old', '1');
      await stage.tool.ok(['commit', 'svc://repo1/then', '-m', 'old']);
      await stage.put('then/t/new', '2');
      await stage.tool.ok(['commit', 'svc://repo1/then', '-m', 'new']);
      const then = 'svc://repo1/then@{1}';
      expect(await stage.tool.ok(['fs', 'ls', `${then}/t/`])).toMatch(/ old\n$/);
      expect(await stage.tool.ok(['log', then, '--amount', '1'])).toContain('old');
      expect(await stage.tool.ok(['diff', then, 'svc://repo1/then'])).toContain('+ added t/new\n');
      const folder = tempDir();
      await stage.tool.ok(['fs', 'download', '-r', 'svc://repo1/then@-1/t/', folder]);
      expect(readdirSync(folder)).toEqual(['old']);
      await stage.tool.ok(['fs', 'cp', '-r', `${then}/t/`, 'svc://repo1/then/copy/']);
      expect(await stage.tool.ok(['fs', 'ls', 'svc://repo1/then/copy/'])).toMatch(/ old\n$/);
    });

    it('merges, tells conflicts and lets one side win', async () => {
      await stage.put('main/conflict', 'base');
      await stage.tool.ok(['commit', 'svc://repo1/main', '-m', 'base']);
      await stage.tool.ok(['branch', 'create', 'svc://repo1/left', '-s', 'svc://repo1/main']);
      await stage.put('left/conflict', 'left');
      await stage.tool.ok(['commit', 'svc://repo1/left', '-m', 'left']);
      await stage.put('main/conflict', 'right');
      await stage.tool.ok(['commit', 'svc://repo1/main', '-m', 'right']);
      const merge = ['merge', 'svc://repo1/left', 'svc://repo1/main'];
      const clash = await stage.tool.run(merge);
      expect(clash.code).toBe(1);
      expect(clash.stdout).toBe('Source: svc://repo1/left\nDestination: svc://repo1/main\n');
      expect(clash.stderr).toMatch(/^Conflict found\.\n\* conflict conflict\n/);
      expect(await stage.tool.ok(['fs', 'cat', 'svc://repo1/main/conflict'])).toBe('right');
      expect((await stage.tool.run([...merge, '--strategy', 'ours'])).stderr).toMatch(/^Error: /);
      await stage.tool.ok([...merge, '--strategy', 'source-wins']);
      expect(await stage.tool.ok(['fs', 'cat', 'svc://repo1/main/conflict'])).toBe('left');
      const noMerges = await stage.tool.ok(['log', 'svc://repo1/main', '--no-merges', '--amount', '50']);
      expect(noMerges).not.toContain('Merge:');
      const dot = await stage.tool.ok(['log', 'svc://repo1/main', '--dot']);
      expect(dot).toMatch(/^digraph \{\nrankdir="BT"\n[\s\S]*\n\}\n$/);
      expect(dot).toContain('<b>');
    });

    it('settles conflicts by rules and files, and says beforehand what would happen', async () => {
      const paths = ['steer/a', 'steer/b', 'steer/c'];
      const write = async (branch: string): Promise<void> => {
        for (const path of paths) await stage.put(`${branch}/${path}`, `${path} of ${branch}`);
        await stage.tool.ok(['commit', `svc://repo1/${branch}`, '-m', branch]);
      };
      await stage.tool.ok(['branch', 'create', 'svc://repo1/steered', '-s', 'svc://repo1/main']);
      await stage.tool.ok(['branch', 'create', 'svc://repo1/steering', '-s', 'svc://repo1/main']);
      await write('steered');
      await write('steering');
      const between = ['svc://repo1/steering', 'svc://repo1/steered'];
      expect(await stage.tool.ok(['conflicts', ...between, '--prefix', 'steer/a'])).toBe(
        'both_added           steer/a  - -> 19 B | 18 B\n1 conflict\n',
      );
      const dry = await stage.tool.run(['merge', ...between, '--dry-run', '--resolve', 'ours:glob:**/a']);
      expect(dry.code).toBe(1);
      expect(dry.stdout).toMatch(/\nWould merge: \+0 ~0 -0, conflicts 3 \(unresolved 2\)\n$/);
      const file = join(tempDir(), 'both');
      writeFileSync(file, 'of both');
      const settle = ['--resolve', 'theirs:path:steer/c', '--resolve-with', `steer/b=${file}`];
      const merged = await stage.tool.ok(['merge', ...between, '--resolve', 'ours:glob:**/a', ...settle]);
      expect(merged).toMatch(/\nResolved 3 conflicts: source 1, destination 1, object 1\nMerged /);
      const shown = await Promise.all(
        paths.map((path) => stage.tool.ok(['fs', 'cat', `svc://repo1/steered/${path}`])),
      );
      expect(shown).toEqual(['steer/a of steered', 'of both', 'steer/c of steering']);
    });

    it('shows differences of branches and refs', async () => {
      await stage.tool.ok(['branch', 'create', 'svc://repo1/dev', '-s', 'svc://repo1/main']);
      await Promise.all([stage.put('dev/x/1'), stage.put('dev/y/1')]);
      expect(await stage.tool.ok(['diff', 'svc://repo1/dev', '--prefix', 'x/'])).toBe(
        'Ref: svc://repo1/dev\n+ added x/1\n',
      );
      const two = await stage.tool.ok(['diff', '--two-way', 'svc://repo1/main', 'svc://repo1/dev$']);
      expect(two).toContain('+ added x/1\n+ added y/1\n');
    });

    it('leaves a tag alone when its new commit does not exist', async () => {
      await stage.tool.ok(['tag', 'create', 'svc://repo1/v1', 'svc://repo1/main']);
      const before = await stage.tool.ok(['tag', 'show', 'svc://repo1/v1']);
      const moved = await stage.tool.run(['tag', 'create', '-f', 'svc://repo1/v1', 'svc://repo1/nowhere']);
      expect(moved).toMatchObject({ code: 1 });
      expect(moved.stderr).toMatch(/404 Not Found\n$/);
      expect(await stage.tool.ok(['tag', 'show', 'svc://repo1/v1'])).toBe(before);
    });

    it('bisects by hand and by a command', async () => {
      await stage.tool.ok(['repo', 'create', 'svc://bisected', 'local://bisected']);
      const ids: string[] = [];
      for (const name of ['good', 'c0', 'c1', 'c2', 'c3', 'c4']) {
        await stage.tool.ok(['commit', 'svc://bisected/main', '--allow-empty-commit', '-m', name]);
      }
      const log = JSON.parse(await stage.tool.ok(['log', 'svc://bisected/main', '--json'])) as {
        id: string;
        message: string;
      }[];
      for (const { id } of log) ids.push(id);
      const good = `svc://bisected/${log.find(({ message }) => message === 'good')?.id}`;
      const start = ['bisect', 'start', 'svc://bisected/main', good];
      expect(await stage.tool.ok(start)).toBe(
        `Repository: bisected\nBisecting: 2 commits left to test after this, roughly 2 steps\nCurrent commit: svc://bisected/${ids[2]} c2\n`,
      );
      expect(await stage.tool.ok(['bisect', 'good'])).toContain(
        `Current commit: svc://bisected/${ids[1]} c3\n`,
      );
      expect(await stage.tool.ok(['bisect', 'bad'])).toContain(`Found commit: svc://bisected/${ids[1]} c3\n`);
      await stage.tool.ok(start);
      const command = ['bisect', 'run', 'sh', '-c', 'case "$0" in c3|c4) exit 1;; esac', ':BISECT_MESSAGE:'];
      expect(await stage.tool.ok(command)).toContain(`Found commit: svc://bisected/${ids[1]} c3\n`);
      await stage.tool.ok(['bisect', 'reset']);
      expect((await stage.tool.run(['bisect', 'log'])).code).toBe(1);
    });
  });
}
