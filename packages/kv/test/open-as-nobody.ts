// Opens the store in a folder as a user without rights, and prints what happened.
import { KvError } from '../src/errors.ts';
import { openLocalStore } from '../src/drivers/local.ts';

const [path = ''] = process.argv.slice(2);
const nobody = 65_534;
process.setgroups?.([]);
process.setgid?.(nobody);
process.setuid?.(nobody);
try {
  const store = await openLocalStore({ path, syncWrites: true });
  await store.close();
  console.log('opened');
} catch (error) {
  console.log(error instanceof KvError ? `${error.kind}: ${error.message}` : `not ours: ${String(error)}`);
}
process.exit(0);
