import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';

export interface ServerProcessOptions extends SpawnOptions {
  /** Resolves when the server answers; called repeatedly until it does. */
  readonly ready: () => Promise<void>;
  readonly timeoutMs?: number;
}

/** A child process that is a server: started until ready, stopped for sure. */
export class ServerProcess {
  readonly #command: string;
  readonly #args: readonly string[];
  readonly #options: ServerProcessOptions;
  #child: ChildProcess | undefined;
  #output = '';

  constructor(command: string, args: readonly string[], options: ServerProcessOptions) {
    this.#command = command;
    this.#args = args;
    this.#options = options;
  }

  async start(): Promise<void> {
    const { ready, timeoutMs = 60_000, ...spawnOptions } = this.#options;
    const child = spawn(this.#command, this.#args, { ...spawnOptions, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    const keep = (chunk: Buffer): void => {
      this.#output = (this.#output + chunk.toString()).slice(-8000);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    const failed = new Promise<never>((_resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => {
        reject(new Error(`${this.#command} ended with ${code} before it was ready:\n${this.#output}`));
      });
    });
    // A server that ends after it was ready was stopped by its test.
    failed.catch(() => undefined);
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      try {
        await Promise.race([ready(), failed]);
        return;
      } catch (error) {
        if (child.exitCode !== null || child.pid === undefined) throw error;
        if (Date.now() > deadline) {
          await this.stop();
          throw new Error(`${this.#command} was not ready in time:\n${this.#output}`, { cause: error });
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    const force = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await gone;
    clearTimeout(force);
  }
}

/** Resolves when something accepts connections at the port. */
export async function acceptsConnections(port: number): Promise<void> {
  const { connect } = await import('node:net');
  await new Promise<void>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', reject);
  });
}
