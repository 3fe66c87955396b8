import type { Command } from 'commander';
import type { CommandContext } from './context.ts';
import { version } from './version.ts';

const capMs = 1000;
/** Commands that must work without a server, or find out why there is none. */
const silent: ReadonlySet<string> = new Set([
  'config',
  'doctor',
  'completion',
  'docs',
  'plugin',
  'cat-sst',
  'login',
  'logout',
]);

/** Counts the use of a command on the user's own server. Nothing waits for it, and a failure stays silent. */
export function countUse(context: CommandContext, command: Command): void {
  const words = wordsOf(command);
  if (version === 'dev' || silent.has(words[0] ?? '')) return;
  const events = [{ class: 'svcctl', name: words.join('_'), count: 1 }];
  const send = async (): Promise<void> => {
    await context.client.post('/statistics', {
      body: { events },
      repeat: false,
      signal: AbortSignal.timeout(capMs),
    });
  };
  // The command's own request reports what is wrong with the server.
  void send().catch(() => undefined);
}

function wordsOf(command: Command): string[] {
  const words: string[] = [];
  for (let at: Command | null = command; at !== null && at.parent !== null; at = at.parent)
    words.unshift(at.name());
  return words;
}
