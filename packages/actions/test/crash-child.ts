// Makes one commit whose hooks are webhooks, and dies just before one of its writes, or before the answer.
import { setTimeout as delay } from 'node:timers/promises';
import { openLocalHouse } from './local-house.ts';

const [folder = '', dieBefore = '0'] = process.argv.slice(2);
let writes = 0;
let isArmed = false;
const house = await openLocalHouse(folder, {
  onWrite() {
    if (!isArmed) return;
    writes += 1;
    if (writes === Number(dieBefore)) process.kill(process.pid, 'SIGKILL');
  },
});
await house.put('a', String(Math.random()));
isArmed = true;
const { id } = await house.commit(`before ${dieBefore}`);
if (dieBefore === 'answer') process.kill(process.pid, 'SIGKILL');
process.stdout.write(`acknowledged ${id}\n`);
while (await house.hooks.hasWaiting()) await delay(10);
await house.hooks.writeFiles();
await house.close();
process.stdout.write('ended\n');
process.exit(0);
