import { createMemAdapter } from '@svc/block';
import { tempDir, waitUntil } from '@svc/testing';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { context, openTestTrees, readTree, writeTree } from './tree-fixture.ts';

function files(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);
}

test.each([
  ['inline', 'small'],
  ['worker', 'small'],
  ['worker', 'large'],
])(
  'killed during the upload of a range (%s, %s): nothing half-written is left or readable',
  async (where, size) => {
    const root = tempDir();
    const script = join(import.meta.dirname, 'upload-forever.ts');
    const child = spawn(process.execPath, [script, root, where, size], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    const workspace = join(root, 'cache', 'range', 'workspace');
    await waitUntil(() => files(workspace).length > 0, { what: 'the table in the workspace' });
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(files(join(root, 'cache')).filter((name) => /^[0-9a-f]{64}$/.test(name))).toEqual([]);

    const { trees } = await openTestTrees(join(root, 'cache'), { adapter: createMemAdapter({}) });
    expect(files(join(root, 'cache'))).toEqual([]);
    const id = await writeTree(trees, new Map([['a', 'b']]));
    expect([...(await readTree(trees, id))]).toEqual([['a', 'b']]);
    await expect(trees.get(context, 'c'.repeat(64), Buffer.from('a'))).rejects.toMatchObject({
      kind: 'corrupt',
    });
    await trees.close();
  },
);
