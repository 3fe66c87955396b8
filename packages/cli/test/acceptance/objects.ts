import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { FakeServer } from '../fake-server.ts';
import { Tool } from '../start-svc.ts';
import type { Stage } from './stage.ts';

export function objectsTests(stage: Stage): void {
  describe('objects', () => {
    it('deletes exactly the named object, and takes ? literally', async () => {
      await Promise.all([stage.put('main/q/a'), stage.put('main/q/a?b')]);
      expect((await stage.tool.run(['fs', 'rm', 'svc://repo1/main/q/a?b'])).code).toBe(0);
      expect(await stage.tool.ok(['fs', 'ls', 'svc://repo1/main/q/'])).toMatch(/ a\n$/);
    });

    it('never touches the source of an upload, and treats the destination as a folder', async () => {
      const source = tempDir();
      mkdirSync(join(source, 'empty'));
      writeFileSync(join(source, 'one'), '1');
      await stage.put('main/up-other/x');
      const text = await stage.tool.ok(['fs', 'upload', '-r', '-s', source, 'svc://repo1/main/up']);
      expect(text).toContain(`diff 'local://${source}/' <--> 'svc://repo1/main/up/'...`);
      expect(text).toContain(
        `${'upload one'.padEnd(40)} ... done!\n\nUpload Summary:\n\nDownloaded: 0\nUploaded: 1\n`,
      );
      expect(readdirSync(source).toSorted()).toEqual(['empty', 'one']);
      const again = await stage.tool.ok(['fs', 'upload', '-r', '-s', source, 'svc://repo1/main/up']);
      expect(again).toContain('Upload Summary:\n\nNo changes\n');
      expect(await stage.tool.ok(['fs', 'ls', '-r', 'svc://repo1/main/up/'])).toMatch(/up\/one\n$/);
    });

    it('downloads nothing outside of its destination', async () => {
      await stage.put('main/evil/../../evil-key', 'evil');
      const folder = join(tempDir(), 'inner');
      const result = await stage.tool.run(['fs', 'download', '-r', 'svc://repo1/main/evil/', folder]);
      expect(result.code).toBe(1);
      expect(result.stderr).toContain('refused to write "../../evil-key"');
      expect(existsSync(join(folder, '..', '..', 'evil-key'))).toBe(false);
    });

    it('uploads /dev/null as a marker and standard input as one byte', async () => {
      await stage.tool.ok(['fs', 'upload', '-s', '/dev/null', 'svc://repo1/main/marked/']);
      const marker = await stage.tool.ok(['fs', 'stat', 'svc://repo1/main/marked/']);
      expect(marker).toContain('Path: marked/\n');
      expect(marker).toContain('Size: 0 bytes\n');
      const stat = await stage.tool.ok(['fs', 'upload', '-s', '-', 'svc://repo1/main/f', '--pre-sign'], {
        input: 'x',
      });
      expect(stat).toContain('Size: 1 bytes\n');
      expect(stat).toContain('Content-Type: application/octet-stream\n');
    });

    it('downloads a folder as one archive, or nothing at all', async () => {
      await Promise.all([stage.put('main/zipped/a', 'one'), stage.put('main/zipped/b/c', 'two')]);
      const folder = tempDir();
      const text = await stage.tool.ok(['fs', 'download', '--archive', 'svc://repo1/main/zipped', folder]);
      expect(text).toBe(`download: svc://repo1/main/zipped/ to ${join(folder, 'zipped.zip')}\n`);
      const unzip =
        'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print({n: z.read(n) for n in z.namelist()})';
      const read = execFileSync('python3', ['-c', unzip, join(folder, 'zipped.zip')], { encoding: 'utf8' });
      expect(read.trim()).toBe("{'a': b'one', 'b/c': b'two'}");
      const named = join(folder, 'new', 'named.zip');
      await stage.tool.ok(['fs', 'download', '--archive', 'svc://repo1/main/zipped/b/', named]);
      expect(existsSync(named)).toBe(true);
      const none = await stage.tool.run(['fs', 'download', '--archive', 'svc://repo1/main/nothing/', folder]);
      expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('nothing to download here')]);
      const both = await stage.tool.run([
        'fs',
        'download',
        '-r',
        '--archive',
        'svc://repo1/main/zipped',
        folder,
      ]);
      expect(both.stderr).toContain("'--archive' cannot be used with option '-r, --recursive'");
      expect(readdirSync(folder).toSorted()).toEqual(['new', 'zipped.zip']);
    });

    it('downloads objects and folders, and says when there is nothing', async () => {
      await Promise.all([stage.put('main/data/a', 'A'), stage.put('main/data/b/c', 'C')]);
      const folder = tempDir();
      const prefix = await stage.tool.run(['fs', 'download', 'svc://repo1/main/data', folder]);
      expect(prefix).toMatchObject({ code: 1 });
      expect(prefix.stderr).toMatch(/404 Not Found\n$/);
      const single = await stage.tool.run(['fs', 'download', '-r', 'svc://repo1/main/data/a', folder]);
      expect(single).toMatchObject({ code: 1, stdout: '' });
      expect(single.stderr).toBe('No objects in path: svc://repo1/main/data/a/\nCommand failed.\n');
      const all = await stage.tool.ok(['fs', 'download', '-r', 'svc://repo1/main/data', folder]);
      expect(all.split('\n').slice(0, 2).toSorted()).toEqual([
        'download a ... done!',
        'download b/c ... done!',
      ]);
      expect(all).toContain('\n\nDownload Summary:\n\nDownloaded: 2\nUploaded: 0\nRemoved: 0\n\n');
      expect(readFileSync(join(folder, 'b', 'c'), 'utf8')).toBe('C');
      const one = await stage.tool.ok(['fs', 'download', 'svc://repo1/main/data/a', `${folder}/new/`]);
      expect(one).toBe(`download: svc://repo1/main/data/a to ${join(folder, 'new', 'a')}\n`);
      const small = await stage.tool.run([
        'fs',
        'download',
        '--part-size',
        '1000',
        'svc://repo1/main/data/a',
      ]);
      expect(small).toMatchObject({ code: 1 });
      expect(small.stderr).toContain('65536');
    });

    it('copies inside a repository', async () => {
      await stage.put('main/cp/a', 'copied');
      await stage.tool.ok(['fs', 'cp', 'svc://repo1/main/cp/a', 'svc://repo1/main/cp2/']);
      expect(await stage.tool.ok(['fs', 'cat', 'svc://repo1/main/cp2/a'])).toBe('copied');
      expect(await stage.tool.ok(['fs', 'cp', '-r', 'svc://repo1/main/cp', 'svc://repo1/main/cp3'])).toBe(
        'Copied: 1\n',
      );
    });

    it('says which object of a batch could not be deleted', async () => {
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
}
