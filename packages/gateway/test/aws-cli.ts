import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const script = join(import.meta.dirname, 'tours', 'aws_cli.py');

/** The AWS CLI as one process that takes command after command. */
export class AwsCli {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #endpoint: string;
  #complaints = '';

  constructor(python: string, endpoint: string, env: NodeJS.ProcessEnv) {
    const child = spawn(python, [script], { env, stdio: ['pipe', 'pipe', 'pipe'] });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#complaints += text));
    this.#lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    this.#child = child;
    this.#endpoint = endpoint;
  }

  /** What the command prints; one that fails throws what it complains about. */
  async run(args: readonly string[]): Promise<string> {
    this.#child.stdin?.write(`${JSON.stringify(['--endpoint-url', this.#endpoint, ...args])}\n`);
    const answer = await this.#lines.next();
    if (answer.done === true) throw new Error(`the AWS CLI has ended: ${this.#complaints}`);
    const { code, output } = JSON.parse(answer.value) as { code: number; output: string };
    if (code !== 0) throw new Error(`aws ${args.join(' ')}: ${code}\n${this.#complaints}`);
    return output;
  }

  close(): void {
    this.#child.kill();
  }
}
