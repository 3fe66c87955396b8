// Opens the store in a folder as a user without rights, and prints what happened.
import { KvError } from '../src/errors.ts';
import { openLocalStore } from '../src/drivers/local.ts';

const [path = ''] = process.argv.slice(2);
const nobody = 65_534;
process.setgroups?.([]);
process.setgid?.(nobody);
process.setuid?.(nobody);
const told = await openLocalStore({ path, syncWrites: true }).then(
  () => 'opened',
  (error: unknown) => (error instanceof KvError ? `${error.kind}: ${error.message}` : String(error)),
);
process.stdout.write(`${told}\n`, () => process.exit(0));
