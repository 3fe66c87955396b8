import { once } from 'node:events';
import { openLocalStore } from '../src/drivers/local.ts';
import { nextLine, startChild } from './child.ts';
import { valueOf } from './value-of.ts';

export interface CrashResult {
  readonly acknowledged: number;
  readonly lost: string[];
  /** The longest write of the process that was not killed. */
  readonly survivorSlowestMs: number;
}

/**
 * Kills a writing process at a random moment after `acknowledgements` writes, again and again, while another process
 * keeps writing; then looks for every write that either of them saw acknowledged.
 */
export async function crashRounds(options: {
  path: string;
  rounds: number;
  acknowledgements: number;
}): Promise<CrashResult> {
  const { path, rounds, acknowledgements } = options;
  const acknowledged: string[] = [];
  const survivor = startChild('write-forever.ts', path, 'survivor');
  survivor.lines.on('line', (line: string) => acknowledged.push(line));
  await nextLine(survivor);
  for (let round = 0; round < rounds; round++) {
    const victim = startChild('write-forever.ts', path, `victim${round}`);
    let left = acknowledgements + Math.floor(Math.random() * acknowledgements);
    victim.lines.on('line', (line: string) => {
      acknowledged.push(line);
      left--;
      if (left === 0) victim.process.kill('SIGKILL');
    });
    await victim.ended;
    // The survivor must still get through after each crash.
    await nextLine(survivor);
  }
  const answer = once(survivor.process, 'message');
  survivor.process.send('stop');
  const [{ slowest }] = (await answer) as [{ slowest: number }];
  await survivor.ended;
  return {
    acknowledged: acknowledged.length,
    lost: await missing(path, acknowledged),
    survivorSlowestMs: slowest,
  };
}

/** Which of the acknowledged keys are not there. */
export async function missing(path: string, keys: readonly string[]): Promise<string[]> {
  const store = await openLocalStore({ path, syncWrites: true });
  const lost: string[] = [];
  for (const key of keys) {
    const found = await store.get(Buffer.from('crash'), Buffer.from(key));
    if (found?.value.equals(valueOf(key)) !== true) lost.push(key);
  }
  await store.close();
  return lost;
}
