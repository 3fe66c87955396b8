import { describe, expect, it } from 'vitest';
import type { Stage } from './stage.ts';

export function outputTests(stage: Stage): void {
  describe('output', () => {
    it('is tab-separated in a pipe, a box when forced and plain with --no-color', async () => {
      const row = /^repo1\t\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC\tmain\t\tlocal:\/\/repo1\n\n$/;
      expect(await stage.tool.ok(['repo', 'list', '--prefix', 'repo1'])).toMatch(row);
      const forced = { env: { SVCCTL_INTERACTIVE: 'true' } };
      const box = await stage.tool.ok(['repo', 'list', '--prefix', 'repo1'], forced);
      expect(box).toMatch(/^\+-+\+.*\n\| REPOSITORY \| CREATION DATE .*\n\+-/);
      expect(await stage.tool.ok(['--no-color', 'repo', 'list', '--prefix', 'repo1'], forced)).toMatch(row);
    });

    it('hints at the next page only where a person reads', async () => {
      await stage.tool.ok(['branch', 'create', 'svc://repo1/page', '-s', 'svc://repo1/main']);
      const list = ['branch', 'list', 'svc://repo1', '--amount', '1'];
      expect(await stage.tool.ok(list)).not.toContain('--after');
      const forced = await stage.tool.ok(list, { env: { SVCCTL_INTERACTIVE: 'true' } });
      expect(forced).toContain('--amount 1 --after "main"');
    });

    it('names a malformed URI and colours it on a terminal', async () => {
      const plain = await stage.tool.run(['repo', 'delete', 'repo1', '-y']);
      expect(plain).toEqual({
        code: 1,
        stdout: '',
        stderr: 'repository URI malformed svc URI\nCommand failed.\n',
      });
      const forced = await stage.tool.run(['repo', 'delete', 'repo1', '-y'], {
        env: { SVCCTL_INTERACTIVE: 'true' },
      });
      expect(forced.stderr.startsWith('\u001B[91m')).toBe(true);
    });

    it('completes arguments with the base URI', async () => {
      await stage.put('main/path/x');
      const env = { SVCCTL_BASE_URI: 'svc://repo1/main' };
      const listed = await stage.tool.ok(['fs', 'ls', 'path/'], { env });
      expect(listed).toMatch(/ x\n$/);
      expect(await stage.tool.ok(['fs', 'ls', '/path/'], { env })).toBe(listed);
    });

    it('prints API objects with --json', async () => {
      const parsed = JSON.parse(await stage.tool.ok(['repo', 'list', '--json'])) as {
        results: { id: string }[];
      };
      expect(parsed.results.map(({ id }) => id)).toContain('repo1');
      expect(JSON.parse(await stage.tool.ok(['identity', '--json']))).toMatchObject({ id: 'quickstart' });
    });

    it('works on a terminal: a box, colours and the hint', async ({ skip }) => {
      const seen = await stage.tool.onTerminal(['branch', 'list', 'svc://repo1', '--amount', '1']);
      if (seen.code === 127 || seen.stdout === '') skip('script of util-linux is not there');
      expect(seen.stdout).toContain('| BRANCH | COMMIT ID');
      expect(seen.stdout).toContain('\u001B[93m--amount 1 --after "main"\u001B[0m');
      const refused = await stage.tool.onTerminal(['repo', 'delete', 'svc://repo1'], { input: 'n\n' });
      expect(refused.stdout).toContain('Delete repository repo1? [y/N]');
      expect(refused.stdout).toContain('delete repository aborted');
      expect(refused.code).toBe(1);
    });

    it('asks before it deletes, after the URI was checked, and takes the answer from a pipe', async () => {
      await stage.tool.ok(['repo', 'create', 'svc://asked', 'local://asked']);
      expect((await stage.tool.run(['repo', 'delete', 'svc://asked'])).stderr).toContain(
        'delete repository aborted',
      );
      expect((await stage.tool.run(['repo', 'delete', 'svc://asked'], { input: 'y\n' })).code).toBe(0);
      const bad = await stage.tool.run(['tag', 'delete', 'svc://repo1'], { input: 'y\n' });
      expect(bad.stderr).not.toContain('[y/N]');
    });
  });
}
