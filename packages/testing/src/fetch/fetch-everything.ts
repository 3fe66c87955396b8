// Runs beside the static checks and the first suites of a whole run. A suite that comes to a server or tool earlier
// waits for it. What fails here is tried again by the suite that needs it, which then tells the reason.
import { everything, forQuickRun } from './everything.ts';

const wanted = process.argv.includes('--quick') ? forQuickRun : everything;
await Promise.allSettled(wanted.map((fetch) => fetch()));
