// Makes changes of 20 writes with 8 writers and prints each once it is acknowledged, until killed.
import { openLocalStore } from '../src/drivers/local.ts';
import type { KvWrite } from '../src/store.ts';

const [path = '', name = ''] = process.argv.slice(2);
const store = await openLocalStore({ path, syncWrites: true });
const partition = Buffer.from('changes');
let count = 0;

async function writer(lane: number): Promise<never> {
  const guard = Buffer.from(`head/${lane}`);
  for (;;) {
    const change = `${name}-${lane}-${count++}`;
    const head = await store.get(partition, guard);
    const writes: KvWrite[] = Array.from({ length: 19 }, (_, index) => ({
      type: 'create',
      key: Buffer.from(`part/${change}/${index}`),
      value: Buffer.alloc(100 * index),
    }));
    writes.push({ type: 'put', key: guard, value: Buffer.from(change) });
    if (await store.change(partition, { key: guard, condition: head?.predicate ?? 'absent' }, writes)) {
      process.stdout.write(`${change}\n`);
    }
  }
}

await Promise.all(Array.from({ length: 8 }, (_, lane) => writer(lane)));
