import type { Command } from 'commander';
import type { CommandContext } from './context.ts';
import { noRetries } from './http/retry-policy.ts';
import { version } from './version.ts';

const capMs = 1000;
/** Commands that must work without a server, or look at why there is none. */
const silent: ReadonlySet<string> = new Set(['config', 'doctor', 'completion', 'docs', 'plugin', 'cat-sst']);

/** Counts the use of a command on the user's own server. Nobody waits for it and nobody hears of its failure. */
export function countUse(context: CommandContext, command: Command): void {
  const words = wordsOf(command);
  if (version === 'dev' || silent.has(words[0] ?? '')) return;
  const events = [{ class: 'svcctl', name: words.join('_'), count: 1 }];
  const send = async (): Promise<void> => {
    const answer = await context.connection.api({
      method: 'POST',
      path: '/statistics',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify({ events })),
      policy: noRetries,
      signal: AbortSignal.timeout(capMs),
    });
    answer.stream.resume();
  };
  void send().catch(() => undefined);
}

function wordsOf(command: Command): string[] {
  const words: string[] = [];
  for (let at: Command | null = command; at !== null && at.parent !== null; at = at.parent)
    words.unshift(at.name());
  return words;
}
