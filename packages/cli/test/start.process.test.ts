import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { svcBundle } from '@svc/testing';
import { expect, it } from 'vitest';

/** Tells at the end of the process which modules it asked for. */
const reporter = `data:text/javascript,
  import { registerHooks } from 'node:module';
  const urls = [];
  registerHooks({ load: (url, context, next) => { urls.push(url); return next(url, context); } });
  process.on('exit', () => process.stderr.write(JSON.stringify(urls)));`;

// What a start costs is what it loads; times would say how busy the machine is (docs/performance/cli.md has them).
it('shows help without loading what only commands need', () => {
  const args = ['--import', reporter, join(svcBundle(), 'svcctl.js'), '--help'];
  const { stderr, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(stdout).toContain('Usage: svcctl');
  const modules = (JSON.parse(stderr) as string[]).map((url) => new URL(url));
  const files = modules.filter(({ protocol }) => protocol === 'file:');
  expect(files.map(({ pathname }) => pathname.split('/').at(-1))).toContain('svcctl.js');
  expect(files.reduce((sum, url) => sum + statSync(url).size, 0)).toBeLessThan(150_000);
  const builtIn = modules.filter(({ protocol }) => protocol === 'node:').map(({ pathname }) => pathname);
  for (const dear of ['http', 'https', 'tls', 'crypto', 'worker_threads'])
    expect(builtIn).not.toContain(dear);
});
