import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { svcBundle } from '@svc/testing';
import { expect, it } from 'vitest';

/** Tells at the end of the process which files it loaded as modules, and which modules of Node.js. */
const reporter = `data:text/javascript,
  import { registerHooks } from 'node:module';
  const files = [];
  registerHooks({ load: (url, context, next) => { files.push(url); return next(url, context); } });
  const native = process.moduleLoadList;
  process.on('exit', () => process.stderr.write(JSON.stringify({ files, native })));`;

// What a start costs is what it loads; times would say how busy the machine is (bench/notes/cli.md has them).
it('shows help without loading what only commands need', () => {
  const args = ['--import', reporter, join(svcBundle(), 'svcctl.js'), '--help'];
  const { stderr, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(stdout).toContain('Usage: svcctl');
  const loaded = JSON.parse(stderr) as { files: string[]; native: string[] };
  const files = loaded.files.filter((url) => url.startsWith('file:')).map((url) => new URL(url));
  expect(files.map(({ pathname }) => pathname.split('/').at(-1))).toContain('svcctl.js');
  expect(files.reduce((sum, url) => sum + statSync(url).size, 0)).toBeLessThan(150_000);
  expect(loaded.native).toContain('NativeModule fs');
  for (const dear of ['http', 'https', 'tls', 'crypto', 'worker_threads'])
    expect(loaded.native).not.toContain(`NativeModule ${dear}`);
});
