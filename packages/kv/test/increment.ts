// Adds one to a shared counter `times` times by compare-and-set with retries.
import { openLocalStore } from '../src/drivers/local.ts';

const [path = '', times = '0', writers = '1'] = process.argv.slice(2);
const store = await openLocalStore({ path, syncWrites: false });
const partition = Buffer.from('counters');
const key = Buffer.from('counter');
let left = Number(times);

async function incrementer(): Promise<void> {
  while (left > 0) {
    left--;
    for (;;) {
      const current = await store.get(partition, key);
      const next = Buffer.from(String(Number(current?.value ?? 0) + 1));
      if (await store.setIf(partition, key, next, current?.predicate ?? 'absent')) break;
    }
  }
}

process.stdout.write('ready\n');
process.once('message', () => {
  void Promise.all(Array.from({ length: Number(writers) }, incrementer)).then(async () => {
    await store.close();
    process.disconnect?.();
  });
});
