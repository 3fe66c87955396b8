// Stores every number it is sent and answers once that is acknowledged.
import { openLocalStore } from '../src/drivers/local.ts';

const store = await openLocalStore({ path: process.argv[2] ?? '', syncWrites: false });
process.stdout.write('ready\n');
process.on('message', (value: number) => {
  const text = String(value);
  void store.set(Buffer.from('echo'), Buffer.from('k'), Buffer.from(text)).then(() => process.send?.(value));
});
process.once('disconnect', () => void store.close());
