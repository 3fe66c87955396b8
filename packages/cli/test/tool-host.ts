// Runs the tool again and again in one process, each time as if it had just been started. Starting a process for every
// command costs more than most commands do.
import { PassThrough, Writable } from 'node:stream';
import { main } from '../src/main.ts';
import type { HostedCall, HostedResult } from './hosted-tool.ts';

class Sink extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}

class Exit extends Error {
  override readonly name = 'Exit';
}

function replace(name: 'stdin' | 'stdout' | 'stderr', stream: unknown): void {
  Object.defineProperty(process, name, { value: stream, configurable: true });
}

async function run({ args, cwd, env, input }: HostedCall): Promise<HostedResult> {
  const [stdout, stderr] = [new Sink(), new Sink()];
  const stdin = new PassThrough();
  stdin.end(input);
  replace('stdin', stdin);
  replace('stdout', stdout);
  replace('stderr', stderr);
  process.chdir(cwd);
  // The system's own, which more than we look at.
  for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, env);
  let exited: number | undefined;
  process.exit = (code) => {
    exited = Number(code ?? 0);
    throw new Exit();
  };
  const code = await main(args);
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal);
  return { code: exited ?? code, stdout: stdout.text, stderr: stderr.text };
}

const leave = process.exit.bind(process);
process.on('disconnect', () => leave(0));
process.on('message', (call: HostedCall) => {
  run(call).then(
    (result) => process.send?.(result),
    () => leave(1),
  );
});
