import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir, waitUntil } from '@svc/testing';

const root = join(import.meta.dirname, '../../..');

let copy: string | undefined;

/** A copy of the bundle that people run: another build may begin while the tests are running. */
export function bundle(): string {
  if (copy !== undefined) return copy;
  const bootstrap = [join(root, 'scripts', 'bootstrap.mjs'), '--build'];
  const result = spawnSync(process.execPath, bootstrap, { encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`the bundle cannot be built: ${result.stderr}`);
  const folder = join(root, 'node_modules', '.cache', `svcctl-test-${process.pid}`);
  cpSync(join(root, 'dist'), folder, { recursive: true });
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  copy = folder;
  return folder;
}

export const quickstart = {
  accessKeyId: 'AKIAIOSFOLQUICKSTART',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};

export interface Server {
  readonly url: string;
  readonly home: string;
  stop(): Promise<void>;
}

/** Starts `svc run` on a free port and waits until it serves. */
export async function startSvc(
  env: Record<string, string> = {},
  args: readonly string[] = ['--quickstart'],
): Promise<Server> {
  const home = tempDir();
  const child = spawn(process.execPath, [join(bundle(), 'svc.js'), 'run', ...args], {
    cwd: home,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, SVC_LISTEN_ADDRESS: '127.0.0.1:0', ...env },
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdout.resume();
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  const url = await waitUntil(
    () => (child.exitCode === null ? /is serving at (\S+)/.exec(stderr)?.[1] : 'ended'),
    { timeoutMs: 60_000, what: 'the server to start' },
  );
  if (url === 'ended') throw new Error(`svc run ended: ${stderr}`);
  return {
    url,
    home,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly input?: string;
  readonly env?: Record<string, string>;
}

/** The tool as people run it, against one server, with a home folder of its own. */
export class Tool {
  readonly home: string;
  readonly url: string;

  constructor(url: string, home: string = tempDir()) {
    this.url = url;
    this.home = home;
  }

  get environment(): Record<string, string> {
    return {
      PATH: process.env['PATH'] ?? '',
      HOME: this.home,
      TZ: 'UTC',
      SVCCTL_SERVER_ENDPOINT_URL: this.url,
      SVCCTL_CREDENTIALS_ACCESS_KEY_ID: quickstart.accessKeyId,
      SVCCTL_CREDENTIALS_SECRET_ACCESS_KEY: quickstart.secretAccessKey,
    };
  }

  /** Starts it and leaves it running. */
  start(args: readonly string[], options: RunOptions = {}): ChildProcess {
    return spawn(process.execPath, [join(bundle(), 'svcctl.js'), ...args], {
      cwd: options.cwd ?? this.home,
      env: { ...this.environment, ...options.env },
    });
  }

  run(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    const child = this.start(args, options);
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(options.input ?? '');
    return collect(child);
  }

  /** Runs it and expects success; answers what it printed. */
  async ok(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const result = await this.run(args, options);
    if (result.code !== 0) throw new Error(`svcctl ${args.join(' ')}: ${result.code}\n${result.stderr}`);
    return result.stdout;
  }

  /** Runs it on a pseudo-terminal; both outputs come as one. */
  onTerminal(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    const words = [process.execPath, join(bundle(), 'svcctl.js'), ...args];
    const line = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
    const child = spawn('script', ['-qec', line, '/dev/null'], {
      cwd: options.cwd ?? this.home,
      env: { ...this.environment, TERM: 'xterm', ...options.env },
    });
    child.stdin.on('error', () => undefined);
    if (options.input === undefined) child.stdin.end();
    else child.stdin.write(options.input);
    return collect(child);
  }
}

export function collect(child: ChildProcess): Promise<Finished> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })));
}
