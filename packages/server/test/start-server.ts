import type { ChildProcess } from 'node:child_process';
import { Agent, request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders, RequestOptions } from 'node:http';
import { runSvcCommand, startSvcProcess, tempDir } from '@svc/testing';
import type { FinishedProcess, SvcProcess } from '@svc/testing';
import { afterAll } from 'vitest';
import { childrenOf } from './children-of.ts';

export type Finished = FinishedProcess;

const started = new Set<ChildProcess>();

// Whatever a failed test has left behind.
afterAll(() => {
  for (const child of started) child.kill('SIGKILL');
});

/** Runs a command of `svc` to its end. */
export function runSvc(
  args: string[],
  env: Record<string, string> = {},
  home: string = tempDir(),
): Promise<Finished> {
  return runSvcCommand({ args, env, home });
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
  readonly #process: SvcProcess;

  constructor(process: SvcProcess) {
    this.home = process.home;
    this.url = process.url;
    this.port = Number(new URL(process.url).port);
    this.finished = process.finished;
    this.#process = process;
  }

  get pid(): number {
    return this.#process.child.pid ?? 0;
  }

  get stdout(): string {
    return this.#process.output.stdout;
  }

  get stderr(): string {
    return this.#process.output.stderr;
  }

  signal(name: NodeJS.Signals): void {
    this.#process.child.kill(name);
  }

  async stop(): Promise<Finished> {
    return await this.#process.stop();
  }

  /** Process ids of everything the primary has started, oldest first. */
  childPids(): number[] {
    return childrenOf(this.pid);
  }

  /** One request on a connection of its own, or on that of the agent. */
  request(
    path: string,
    options: RequestOptions & { body?: string | Buffer; encoding?: BufferEncoding } = {},
  ): Promise<Answer> {
    const { body, encoding = 'utf8', ...rest } = options;
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
              body: Buffer.concat(chunks).toString(encoding),
            }),
          );
        },
      );
      request.on('error', reject);
      request.end(body);
    });
  }
}

export const quickstartKey = {
  accessKeyId: 'AKIAIOSFOLQUICKSTART',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
} as const;

export const quickstartAuth = `Basic ${Buffer.from(`${quickstartKey.accessKeyId}:${quickstartKey.secretAccessKey}`).toString('base64')}`;

export function keepAliveAgent(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1 });
}

/** Starts `svc run` on a free port and waits until it serves. */
export async function startSvc(
  args: string[] = ['--quickstart'],
  env: Record<string, string> = {},
  home: string = tempDir(),
  bundle?: string,
): Promise<RunningSvc> {
  const running = await startSvcProcess({ args, env, home, ...(bundle !== undefined && { bundle }) });
  started.add(running.child);
  void running.finished.then(() => started.delete(running.child));
  return new RunningSvc(running);
}
