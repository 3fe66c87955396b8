// Takes a lease, says so, and answers each message with whether it still may take a step.
import { Lease } from '../src/lease.ts';
import { openStore, type KvStoreConfig } from '../src/open-store.ts';

const kv = await openStore(JSON.parse(process.argv[2] ?? '') as KvStoreConfig);
const lease = new Lease(kv, { name: 'job', owner: 'child' });
const held = await lease.acquire();
process.on('message', () => {
  void held?.isHeld().then((isHeld) => process.stdout.write(isHeld ? 'goes on\n' : 'stops\n'));
});
process.stdout.write(held === undefined ? 'refused\n' : 'holds\n');
