import {
  closeSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { svcBundle, tempDir } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSvc, Tool, type Server } from './start-svc.ts';

const gibibyte = 1024 ** 3;
const smallFiles = 100_000;
/** Far below the size of the data, with room for the runtime itself. */
const memoryLimit = 600 * 1024 * 1024;

let server: Server;
let tool: Tool;

beforeAll(async () => {
  server = await startSvc({ SVC_LOGGING_LEVEL: 'INFO' });
  tool = new Tool(server.url);
  await tool.ok(['repo', 'create', 'svc://repo1', 'local://repo1']);
});

afterAll(async () => {
  await server?.stop();
});

/** Runs the tool and watches its memory. */
async function watched(args: readonly string[]): Promise<{ stdout: string; peak: number }> {
  const child = spawn(process.execPath, [join(svcBundle(), 'svcctl.js'), ...args], {
    cwd: tool.home,
    env: tool.environment,
  });
  let stdout = '';
  let stderr = '';
  let peak = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout = (stdout + text).slice(-2000)));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const timer = setInterval(() => {
    const { stdout: text } = spawnSync('ps', ['-o', 'rss=', '-p', String(child.pid)], { encoding: 'utf8' });
    peak = Math.max(peak, Number(text.trim()) * 1024 || 0);
  }, 500);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  clearInterval(timer);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return { stdout, peak };
}

describe('transfers', () => {
  it(`keep ${smallFiles} small files apart, up and down, and know them again`, async () => {
    const folder = tempDir();
    for (let at = 0; at < smallFiles; at += 1) {
      const sub = join(folder, 'in', String(at % 100));
      if (at < 100) mkdirSync(sub, { recursive: true });
      writeFileSync(join(sub, `file-${at}`), `content of ${at}`);
    }
    const up = await watched(['fs', 'upload', '-r', '-s', join(folder, 'in'), 'svc://repo1/main/small/']);
    expect(up.stdout).toContain(`Uploaded: ${smallFiles}\n`);
    expect(up.peak).toBeLessThan(memoryLimit);
    await tool.ok(['commit', 'svc://repo1/main', '-m', 'small files']);
    const clone = join(folder, 'clone');
    const down = await watched(['local', 'clone', 'svc://repo1/main/small/', clone]);
    expect(down.stdout).toContain(`Downloaded: ${smallFiles}\n`);
    expect(down.peak).toBeLessThan(memoryLimit);
    const { status, stdout } = spawnSync('diff', ['-r', '-x', '.svc_ref.yaml', join(folder, 'in'), clone]);
    expect(stdout.toString()).toBe('');
    expect(status).toBe(0);
    expect((await watched(['local', 'status', clone])).stdout).toContain('No diff found.');
    rmSync(folder, { recursive: true });
  });

  it('move a sparse file of 20 GiB with constant memory', async () => {
    const folder = tempDir();
    const file = join(folder, 'big');
    const marks = [0, 7 * gibibyte + 13, 20 * gibibyte - 9];
    writeFileSync(file, '');
    truncateSync(file, 20 * gibibyte);
    const descriptor = openSync(file, 'r+');
    for (const at of marks) writeSync(descriptor, `mark${at % 1000}`.slice(0, 8), at);
    closeSync(descriptor);
    const up = await watched(['fs', 'upload', '-s', file, 'svc://repo1/main/big']);
    expect(up.stdout).toContain(`Size: ${20 * gibibyte} bytes\n`);
    expect(up.peak).toBeLessThan(memoryLimit);
    rmSync(file);
    const down = await watched(['fs', 'download', 'svc://repo1/main/big', join(folder, 'back')]);
    expect(down.peak).toBeLessThan(memoryLimit);
    expect(statSync(join(folder, 'back')).size).toBe(20 * gibibyte);
    const back = openSync(join(folder, 'back'), 'r');
    for (const at of marks) {
      const bytes = Buffer.alloc(8);
      const length = readSync(back, bytes, 0, 8, at);
      const expected = `mark${at % 1000}`.slice(0, 8);
      expect(bytes.toString('utf8', 0, Math.min(length, expected.length))).toBe(expected);
    }
    closeSync(back);
    rmSync(folder, { recursive: true });
  });
});

describe('history', () => {
  it('is shown whole and to any amount', { timeout: 1_200_000 }, async () => {
    await tool.ok(['repo', 'create', 'svc://history', 'local://history']);
    await tool.ok(['abuse', 'commit', 'svc://history/main', '--amount', '1499', '--gap', '0s']);
    const count = async (...flags: string[]): Promise<number> =>
      (await tool.ok(['log', 'svc://history/main', ...flags]))
        .split('\n')
        .filter((line) => line.startsWith('ID:')).length;
    expect(await count()).toBe(1500);
    expect(await count('--amount', '1200')).toBe(1200);
    expect(await count('--amount', '0', '--no-merges')).toBe(1500);
  });
});
