import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { Agent, request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders, RequestOptions } from 'node:http';
import { cpSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tempDir, waitUntil } from '@svc/testing';
import { afterAll } from 'vitest';

const root = join(import.meta.dirname, '../../..');

let program: string | undefined;

/** A copy of the bundle that people run: another build may begin while the tests are running. */
function bundledProgram(): string {
  if (program !== undefined) return program;
  const bootstrap = [join(root, 'scripts', 'bootstrap.mjs'), '--build'];
  const result = spawnSync(process.execPath, bootstrap, { encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`the bundle cannot be built: ${result.stderr}`);
  const copy = join(root, 'node_modules', '.cache', `svc-test-${process.pid}`);
  cpSync(join(root, 'dist'), copy, { recursive: true });
  program = join(copy, 'svc.js');
  return program;
}

const started = new Set<ChildProcess>();

// Whatever a failed test has left behind.
afterAll(() => {
  for (const child of started) child.kill('SIGKILL');
  if (program !== undefined) rmSync(dirname(program), { recursive: true, force: true });
  program = undefined;
});

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Only what a test sets: variables of the machine must not reach the server. */
function environment(home: string, env: Record<string, string>): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: home, NO_COLOR: '1', ...env };
}

/** Runs a command of `svc` to its end. */
export function runSvc(
  args: string[],
  env: Record<string, string> = {},
  home: string = tempDir(),
): Promise<Finished> {
  const child = spawn(process.execPath, [bundledProgram(), ...args], {
    cwd: home,
    env: environment(home, env),
  });
  return collect(child);
}

function collect(child: ChildProcess): Promise<Finished> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })));
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export class RunningSvc {
  readonly home: string;
  readonly url: string;
  readonly port: number;
  readonly finished: Promise<Finished>;
  readonly #child: ChildProcess;
  readonly #output: { stdout: string; stderr: string };

  constructor(parts: {
    home: string;
    url: string;
    child: ChildProcess;
    output: { stdout: string; stderr: string };
    finished: Promise<Finished>;
  }) {
    this.home = parts.home;
    this.url = parts.url;
    this.port = Number(new URL(parts.url).port);
    this.#child = parts.child;
    this.#output = parts.output;
    this.finished = parts.finished;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get stdout(): string {
    return this.#output.stdout;
  }

  get stderr(): string {
    return this.#output.stderr;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async stop(): Promise<Finished> {
    this.signal('SIGTERM');
    return this.finished;
  }

  /** Process ids of everything the primary has started, oldest first. */
  childPids(): number[] {
    const pids: number[] = [];
    for (const entry of readdirSync('/proc')) {
      if (!/^\d+$/.test(entry)) continue;
      try {
        const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
        if (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === this.pid)
          pids.push(Number(entry));
      } catch {
        // The process ended while we looked.
      }
    }
    return pids.toSorted((a, b) => a - b);
  }

  /** One request on a connection of its own, or on that of the agent. */
  request(path: string, options: RequestOptions & { body?: string | Buffer } = {}): Promise<Answer> {
    const { body, ...rest } = options;
    return new Promise((resolve, reject) => {
      const request = httpRequest(
        { host: '127.0.0.1', port: this.port, path, agent: false, ...rest },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: Buffer.concat(chunks).toString('utf8'),
            }),
          );
        },
      );
      request.on('error', reject);
      request.end(body);
    });
  }
}

export const quickstartAuth = `Basic ${Buffer.from('AKIAIOSFOLQUICKSTART:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY').toString('base64')}`;

export function keepAliveAgent(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1 });
}

/** Starts `svc run` on a free port and waits until it serves. */
export async function startSvc(
  args: string[] = ['--quickstart'],
  env: Record<string, string> = {},
  home: string = tempDir(),
): Promise<RunningSvc> {
  const child = spawn(process.execPath, [bundledProgram(), 'run', ...args], {
    cwd: home,
    env: environment(home, { SVC_LISTEN_ADDRESS: '127.0.0.1:0', ...env }),
  });
  started.add(child);
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  const finished = new Promise<Finished>((resolve) => {
    child.on('close', (code) => {
      started.delete(child);
      resolve({ code, ...output });
    });
  });
  let ended: Finished | undefined;
  void finished.then((result) => (ended = result));
  const url = await waitUntil(
    () => {
      if (ended !== undefined) return 'ended';
      return /is serving at (\S+)/.exec(output.stderr)?.[1];
    },
    { timeoutMs: 30_000, what: 'the server to start' },
  );
  if (ended !== undefined) throw new Error(`svc run ended with ${ended.code}: ${ended.stderr}`);
  return new RunningSvc({ home, url, child, output, finished });
}
