import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { svcBundle, tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import {
  branchSnippet,
  collectionSnippet,
  cliConfig,
  commitSnippet,
  createRepositorySnippet,
  diffSnippet,
  listSnippets,
  logSnippet,
  mergeSnippet,
  protectSnippet,
  readSnippets,
  tagSnippet,
  uploadSnippet,
} from '../../src/lib/snippets.ts';
import { keys } from '../stage.ts';
import type { Stage } from '../stage.ts';

export function snippetFlows(stage: Stage): void {
  test('every svcctl command the pages show runs, with the configuration they hand out', async () => {
    const home = tempDir();
    const config = join(home, 'svcctl.yaml');
    writeFileSync(config, cliConfig(stage.server.url, keys.access_key_id, keys.secret_access_key));
    writeFileSync(join(home, 'file'), 'content');
    const place = { origin: stage.server.url, repository: 'shown', ref: 'main', path: "it's here/file" };
    const onlySvcctl = (snippets: readonly { tool: string; code: string }[]): string[] =>
      snippets.filter(({ tool }) => tool === 'svcctl').map(({ code }) => code);
    const commands = [
      createRepositorySnippet('shown', 'local://shown'),
      uploadSnippet('shown', 'main', place.path),
      commitSnippet('shown', 'main'),
      ...onlySvcctl(listSnippets({ ...place, path: "it's here/" })),
      ...onlySvcctl(readSnippets(place)),
      branchSnippet('shown', 'experiment', 'main'),
      uploadSnippet('shown', 'experiment', 'new'),
      commitSnippet('shown', 'experiment'),
      diffSnippet('shown', 'main', 'experiment'),
      mergeSnippet('shown', 'experiment', 'main'),
      tagSnippet('shown', 'v1.0', 'main'),
      logSnippet('shown', 'main'),
      protectSnippet('shown', 'release-*'),
      collectionSnippet('shown'),
    ];
    const program = join(svcBundle(), 'svcctl.js');
    const script = `set -e\nsvcctl() { "${process.execPath}" "${program}" --config "${config}" "$@"; }\n${commands.join('\n')}\n`;
    const { stdout } = await promisify(execFile)('sh', ['-c', script], {
      cwd: home,
      env: { PATH: process.env['PATH'] ?? '', HOME: home, NO_COLOR: '1' },
    });
    expect(stdout).toContain('content');
    expect(await stage.read('shown', 'main', 'new')).toBe('content');
  });
}
