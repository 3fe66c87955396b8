
import { it } from 'vitest';
import { appendFileSync } from 'node:fs';
import { runCollectorRace, type Sabotage } from './collector-race-run.ts';
const all: (Sabotage|undefined)[] = ['writers do not look whether something is collected','heads move without a look at the tables','pins are not read','moves are not read','staged values are not read','what was written again is deleted','writers do not wait for the batch', undefined];
for (const sabotage of all) it(String(sabotage), async () => {
  const end = Date.now() + 60_000;
  let steps = 0;
  let seed = 100;
  for (; Date.now() < end; seed += 1) {
    try { steps += await runCollectorRace({ seed, rounds: 4, sabotage }); }
    catch (error) { appendFileSync('/tmp/zz-out.txt', `${sabotage}: RED at seed ${seed} after ${steps} steps: ${(error as Error).cause}\n${sabotage === undefined ? (error as Error).message + (error as any).cause?.stack : ''}\n`); return; }
  }
  appendFileSync('/tmp/zz-out.txt', `${sabotage}: GREEN after ${seed-100} seeds ${steps} steps\n`);
}, 100_000);
