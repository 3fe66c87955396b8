import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';

/** Runs pieces of code one after the other in one interpreter, and says how each of them ended. */
const loop = `
import contextlib, io, json, sys, traceback
names = {"__name__": "__main__"}
for line in sys.stdin:
    printed = io.StringIO()
    failure = None
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(json.loads(line), "<piece>", "exec"), names)
        except BaseException:
            failure = traceback.format_exc()
    print(json.dumps({"printed": printed.getvalue(), "failure": failure}), flush=True)
`;

interface Ended {
  readonly printed: string;
  readonly failure: string | null;
}

/** An interpreter that stays: what takes long to start is started once. */
export class PythonSession {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  #errors = '';

  constructor(python: string, options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }) {
    this.#child = spawn(python, ['-c', loop], options);
    this.#child.stderr.on('data', (chunk: Buffer) => {
      this.#errors = `${this.#errors}${chunk.toString()}`.slice(-4000);
    });
    this.#lines = linesOf(this.#child.stdout);
  }

  /** What the code prints. */
  async run(code: string): Promise<string> {
    this.#child.stdin.write(`${JSON.stringify(code)}\n`);
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error(`the interpreter ended:\n${this.#errors}`);
    const { printed, failure } = JSON.parse(value) as Ended;
    if (failure === null) return printed;
    throw new Error(`${printed}\n${failure.slice(-4000)}\n${code}`);
  }

  async end(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.stdin.end();
    await ended;
  }
}

async function* linesOf(stream: AsyncIterable<unknown>): AsyncGenerator<string, undefined> {
  let rest = '';
  for await (const chunk of stream) {
    const lines = `${rest}${String(chunk)}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  return undefined;
}
