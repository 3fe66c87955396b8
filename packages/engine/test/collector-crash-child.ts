// Collects the repository in a folder, and dies at a call: node collector-crash-child.ts <folder> <repository> <call>
import { openCrashEngine } from './collector-crash-engine.ts';

const [folder = '', repository = '', at = '0'] = process.argv.slice(2);
let calls = 0;
const seen: string[] = [];
const { engine, collect, close } = await openCrashEngine({
  folder,
  onCall: (name) => {
    calls += 1;
    seen.push(name);
    if (calls === Number(at)) process.kill(process.pid, 'SIGKILL');
  },
});
const run = await engine.gcRuns.start({ repository, user: 'crash', hard: true });
await collect();
const { state, error } = await engine.gcRuns.get({ repository, run });
if (state !== 'completed') throw new Error(`the run ${state}: ${error ?? ''}`);
process.stdout.write(JSON.stringify(seen));
await close();
