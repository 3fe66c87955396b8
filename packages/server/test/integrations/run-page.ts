import { join } from 'node:path';
import { runCommand, svcBundle, tempDir, type SvcProcess } from '@svc/testing';
import { expect } from 'vitest';
import { blocksOf, PageFolder, type Block } from './documented-page.ts';

export const quickstart = {
  accessKeyId: 'AKIAIOSFOLQUICKSTART',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};

/** What runs a kind of block: its program, and the arguments for some code. */
export type Runners = Readonly<Record<string, (code: string) => readonly string[]>>;

export interface PageRun {
  readonly page: string;
  readonly server: SvcProcess;
  readonly runners: Runners;
  /** Programs that scripts of the page call. */
  readonly programs?: Readonly<Record<string, readonly string[]>>;
}

/** Runs what a page tells to run, in order and in a new repository `lake`, and compares what it prints. */
export async function runPage({ page, server, runners, programs = {} }: PageRun): Promise<void> {
  const folder = new PageFolder(tempDir('svc-page'));
  folder.program('svcctl', [process.execPath, join(svcBundle(), 'svcctl.js')]);
  for (const [name, command] of Object.entries(programs)) folder.program(name, command);
  const env = {
    PATH: `${folder.bin}:${process.env['PATH']}`,
    HOME: folder.path,
    LANG: 'C.UTF-8',
    SVCCTL_SERVER_ENDPOINT_URL: server.url,
    SVCCTL_CREDENTIALS_ACCESS_KEY_ID: quickstart.accessKeyId,
    SVCCTL_CREDENTIALS_SECRET_ACCESS_KEY: quickstart.secretAccessKey,
  };
  const run = ([program = '', ...args]: readonly string[]): Promise<string> =>
    runCommand(program, args, { cwd: folder.path, env });
  const svcctl = join(folder.bin, 'svcctl');
  const name = page.replace(/\W/g, '-');
  await run([svcctl, 'repo', 'create', 'svc://lake', `local://${name}`]);
  try {
    const blocks = blocksOf(page, server.url);
    expect(
      blocks.filter(({ kind }) => !kind.startsWith('file ')),
      page,
    ).not.toEqual([]);
    for (const block of blocks) await runBlock(block);
  } finally {
    await run([svcctl, 'repo', 'delete', '-y', 'svc://lake']);
  }

  async function runBlock({ kind, code, prints }: Block): Promise<void> {
    if (kind.startsWith('file ')) {
      folder.write(kind.slice('file '.length), code);
      return;
    }
    const command = kind === 'sh' ? ['bash', '-euo', 'pipefail', '-c', code] : runners[kind]?.(code);
    if (command === undefined) throw new Error(`nothing runs ${kind}`);
    expect(await run(command), `${page}: ${code}`).toBe(prints ?? '');
  }
}
