// Opens the gate of a store, says so, and stays inside until killed: as one that opens the store, or as one that writes.
import { openGate } from '../src/drivers/local/opening-gate.ts';

const [path = '', role = ''] = process.argv.slice(2);
setInterval(() => undefined, 1000);
const gate = await openGate(path);
if (role === 'writing') {
  await gate.enter();
  process.stdout.write('inside\n');
} else {
  await gate.whileOpening(() => {
    process.stdout.write('inside\n');
    return new Promise(() => undefined);
  });
}
