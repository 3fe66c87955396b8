import { parentPort, workerData } from 'node:worker_threads';
import { serveHashes } from './hash-service.ts';
import { serveTrees } from './tree-service.ts';
import type { WorkerSetup } from './worker-messages.ts';

/** Entry of the threads that do heavy work on trees; the bundle emits it as a file of its own. */
if (parentPort !== null) {
  const setup = workerData as WorkerSetup;
  if (setup.role === 'hash') serveHashes(parentPort);
  else serveTrees(parentPort, setup);
}
