import { createInterface } from 'node:readline/promises';
import { CliError } from './errors.ts';

export interface Confirmation {
  /** What `-y` answers. */
  readonly yes?: boolean | undefined;
  readonly question: string;
  /** Named in the refusal: `<operation> aborted`. */
  readonly operation: string;
}

/** Asks `[y/N]`; anything but `y` refuses. Without a terminal one line of standard input is the answer. */
export async function confirm(confirmation: Confirmation): Promise<void> {
  if (confirmation.yes === true) return;
  const answer = await ask(`${confirmation.question} [y/N] `);
  if (answer?.trim().toLowerCase() !== 'y') throw new CliError(`${confirmation.operation} aborted`);
}

/** One line of input, or undefined at its end. */
export async function ask(question: string): Promise<string | undefined> {
  const lines = createInterface({
    input: process.stdin,
    output: process.stderr,
    terminal: process.stdin.isTTY,
  });
  try {
    return await new Promise<string | undefined>((resolve) => {
      lines.once('close', () => {
        // An answer that came together with the end of the input counts.
        setImmediate(resolve, undefined);
      });
      lines.once('SIGINT', () => {
        lines.close();
      });
      lines.question(question).then(resolve, () => {
        resolve(undefined);
      });
    });
  } finally {
    lines.close();
  }
}
