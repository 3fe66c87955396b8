// Becomes the server of the folder and stays until killed.
import { lockLocalStore } from '../src/index.ts';

await lockLocalStore(process.argv[2] ?? '');
process.stdout.write('locked\n');
setInterval(() => undefined, 60_000);
