import { join } from 'node:path';
import { runCommand, svcBundle, tempDir, type SvcProcess } from '@svc/testing';
import { expect } from 'vitest';
import { blocksOf, PageFolder, type Block } from './documented-page.ts';

/** How svcctl finds a quick start. */
export function svcctlEnv(url: string): Record<string, string> {
  return {
    LANG: 'C.UTF-8',
    SVCCTL_SERVER_ENDPOINT_URL: url,
    SVCCTL_CREDENTIALS_ACCESS_KEY_ID: 'AKIAIOSFOLQUICKSTART',
    SVCCTL_CREDENTIALS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  };
}

/** What runs a kind of block: its program and the arguments for some code, or itself, in the folder of the page. */
export type Runners = Readonly<
  Record<string, (code: string, folder: string) => readonly string[] | Promise<string>>
>;

export interface PageRun {
  readonly page: string;
  readonly server: SvcProcess;
  readonly runners: Runners;
  /** Programs that scripts of the page call. */
  readonly programs?: Readonly<Record<string, readonly string[]>>;
  /** Where the servers are that the page knows under other addresses. */
  readonly addresses?: Readonly<Record<string, string>>;
}

/** Runs what a page tells to run, in order and in a new repository `lake`, and compares what it prints. */
export async function runPage({
  page,
  server,
  runners,
  programs = {},
  addresses = {},
}: PageRun): Promise<void> {
  const folder = new PageFolder(tempDir('svc-page'));
  folder.program('svcctl', [process.execPath, join(svcBundle(), 'svcctl.js')]);
  for (const [name, command] of Object.entries(programs)) folder.program(name, command);
  const env = {
    PATH: `${folder.bin}:${process.env['PATH']}`,
    HOME: folder.path,
    ...svcctlEnv(server.url),
  };
  const run = ([program = '', ...args]: readonly string[]): Promise<string> =>
    runCommand(program, args, { cwd: folder.path, env });
  const svcctl = join(folder.bin, 'svcctl');
  const name = page.replace(/\W/g, '-');
  await run([svcctl, 'repo', 'create', 'svc://lake', `local://${name}`]);
  try {
    const blocks = blocksOf(page, server.url);
    // A server that a block starts reads files which the page shows later.
    const isFile = ({ kind }: Block): boolean => kind.startsWith('file ');
    const told = blocks.filter((block) => !isFile(block));
    expect(told, page).not.toEqual([]);
    for (const block of [...blocks.filter(isFile), ...told]) await runBlock(block);
  } finally {
    await run([svcctl, 'repo', 'delete', '-y', 'svc://lake']);
  }

  async function runBlock({ kind, code: text, prints }: Block): Promise<void> {
    const code = Object.entries(addresses).reduce(
      (read, [known, real]) => read.replaceAll(known, real),
      text,
    );
    if (kind.startsWith('file ')) {
      folder.write(kind.slice('file '.length), code);
      return;
    }
    const command =
      kind === 'sh' ? ['bash', '-euo', 'pipefail', '-c', code] : runners[kind]?.(code, folder.path);
    if (command === undefined) throw new Error(`nothing runs ${kind}`);
    const printed = command instanceof Promise ? await command : await run(command);
    expect(printed, `${page}: ${code}`).toBe(prints ?? '');
  }
}
