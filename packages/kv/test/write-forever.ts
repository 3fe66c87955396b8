// Writes distinct keys with 16 writers and prints each key once it is acknowledged, until killed or told to stop.
import { openLocalStore } from '../src/drivers/local.ts';
import { valueOf } from './value-of.ts';

const [path = '', name = ''] = process.argv.slice(2);
const store = await openLocalStore({ path, syncWrites: true });
const partition = Buffer.from('crash');
const stop = new AbortController();
let count = 0;
let slowest = 0;
process.once('message', () => stop.abort());

async function writer(): Promise<void> {
  while (!stop.signal.aborted) {
    const key = `${name}/${count++}`;
    const started = performance.now();
    if (count % 3 === 0) await store.setIf(partition, Buffer.from(key), valueOf(key), 'absent');
    else await store.set(partition, Buffer.from(key), valueOf(key));
    slowest = Math.max(slowest, performance.now() - started);
    process.stdout.write(`${key}\n`);
  }
}

await Promise.all(Array.from({ length: 16 }, writer));
process.send?.({ slowest });
await store.close();
process.disconnect?.();
