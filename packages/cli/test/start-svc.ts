import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { runHosted } from './hosted-tool.ts';
import { chattyLogging, keepLog, startSvcProcess, svcBundle, tempDir } from '@svc/testing';

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
  const { url, home, stop } = await startSvcProcess({ args, env: { ...chattyLogging, ...env } });
  return {
    url,
    home,
    async stop() {
      await stop();
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
  /** In a process of its own: for what starts others, or is told by signals. */
  readonly alone?: boolean;
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
    return spawn(process.execPath, [join(svcBundle(), 'svcctl.js'), ...args], {
      cwd: options.cwd ?? this.home,
      env: { ...this.environment, ...options.env },
    });
  }

  async run(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    if (options.alone === true) return this.#runAlone(args, options);
    const { cwd = this.home, input = '' } = options;
    const result = await runHosted({ args, cwd, env: { ...this.environment, ...options.env }, input });
    keepLog('svcctl-stderr.log', result.stderr);
    return result;
  }

  #runAlone(args: readonly string[], options: RunOptions): Promise<Finished> {
    const child = this.start(args, options);
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(options.input ?? '');
    const finished = collect(child);
    void finished.then(({ stderr }) => keepLog('svcctl-stderr.log', stderr));
    return finished;
  }

  /** Runs it and expects success; answers what it printed. */
  async ok(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const result = await this.run(args, options);
    if (result.code !== 0) throw new Error(`svcctl ${args.join(' ')}: ${result.code}\n${result.stderr}`);
    return result.stdout;
  }

  /** Runs it on a pseudo-terminal; both outputs come as one. */
  onTerminal(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    const words = [process.execPath, join(svcBundle(), 'svcctl.js'), ...args];
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
