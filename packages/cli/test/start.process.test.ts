import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { svcBundle } from '@svc/testing';
import { expect, it } from 'vitest';

/** Processor time says what a quiet machine would need, however busy this one is. */
const reporter =
  "data:text/javascript,process.on('exit',()=>{const u=process.cpuUsage();process.stderr.write('cpu='+(u.user+u.system))})";

it('shows help in less than 100 ms', () => {
  const times = Array.from({ length: 8 }, () => {
    const args = ['--import', reporter, join(svcBundle(), 'svcctl.js'), '--help'];
    const { stderr, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(stdout).toContain('Usage: svcctl');
    return Number(/cpu=(\d+)/.exec(stderr)?.[1]) / 1000;
  });
  expect(Math.min(...times)).toBeLessThan(100);
});
