// Opens and closes the store again and again, and prints how often it did.
import { openLocalStore } from '../src/drivers/local.ts';

const [path = '', times = ''] = process.argv.slice(2);
let opened = 0;
for (; opened < Number(times); opened++) {
  const store = await openLocalStore({ path, syncWrites: true });
  await store.close();
}
process.stdout.write(`${opened}\n`);
process.disconnect?.();
