import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { awsClients, orSkipReason, runCommand, svcBundle, tempDir } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { startSvc } from '../start-server.ts';

const root = join(import.meta.dirname, '..', '..', '..', '..');
// Builds what the commands of the repository run.
svcBundle();
const python = await orSkipReason('the AWS command line', awsClients);

/** The shell blocks of one chapter of the README, in order. */
function shellBlocks(chapter: string): string[] {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const text = readme.split(/^## /m).find((part) => part.startsWith(chapter)) ?? '';
  return [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');
}

describe('README', () => {
  it.skipIf(python === undefined)('gives a tour that is true', async () => {
    const server = await startSvc();
    try {
      const blocks = shellBlocks('A five-minute tour');
      expect(blocks.length).toBeGreaterThanOrEqual(5);
      const script = blocks
        .join('\n')
        .replaceAll('http://127.0.0.1:8000', server.url)
        .replaceAll('npx svcctl', 'svcctl');
      const path = [join(root, 'node_modules', '.bin'), dirname(python!), process.env['PATH']].join(':');
      const folder = tempDir();
      const output = await runCommand('bash', ['-euo', 'pipefail', '-c', script], {
        cwd: folder,
        env: { PATH: path, HOME: folder },
      });
      expect(output).toContain('~ modified prices.csv');
      expect(output).toMatch(/Merged "raise" into "main"/);
      // Read by svcctl and by the AWS tool after the merge, and again after the revert.
      expect(output.match(/^id,price\n1,9\.99$/gm)).toHaveLength(3);
      expect(output).toContain('prices.csv');
    } finally {
      await server.stop();
    }
  });

  it.each(['svc', 'svcctl'])('lets npx run %s from the repository', (name) => {
    const { status, stdout } = spawnSync('npx', ['--no-install', name, '--version'], {
      cwd: root,
      encoding: 'utf8',
    });
    expect(status).toBe(0);
    expect(stdout).toMatch(/\d+\.\d+\.\d+/);
  });
});
