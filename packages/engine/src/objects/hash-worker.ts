import { parentPort, workerData } from 'node:worker_threads';
import { createDigest, loadDigests, type AnyDigestName, type RunningDigest } from './digests.ts';

/** Messages to a hashing thread. Chunks lie in the shared memory of the pool. */
export type HashRequest =
  | { readonly kind: 'open'; readonly job: number; readonly name: AnyDigestName }
  | { readonly kind: 'chunk'; readonly job: number; readonly slot: number; readonly length: number }
  | { readonly kind: 'finish'; readonly job: number }
  | { readonly kind: 'drop'; readonly job: number };

export type HashAnswer =
  | { readonly kind: 'free'; readonly slot: number }
  | { readonly kind: 'digest'; readonly job: number; readonly digest: Uint8Array };

export interface HashWorkerData {
  readonly memory: SharedArrayBuffer;
  readonly slotBytes: number;
}

const port = parentPort;
if (port !== null) {
  // Messages wait until somebody listens.
  await loadDigests(['xxhash64', 'xxhash3', 'xxhash128']);
  const { memory, slotBytes } = workerData as HashWorkerData;
  const digests = new Map<number, RunningDigest>();
  port.on('message', (request: HashRequest) => {
    if (request.kind === 'open') digests.set(request.job, createDigest(request.name));
    else if (request.kind === 'chunk') {
      digests.get(request.job)?.update(new Uint8Array(memory, request.slot * slotBytes, request.length));
      port.postMessage({ kind: 'free', slot: request.slot } satisfies HashAnswer);
    } else {
      const digest = digests.get(request.job);
      digests.delete(request.job);
      if (request.kind === 'finish' && digest !== undefined) {
        port.postMessage({ kind: 'digest', job: request.job, digest: digest.digest() } satisfies HashAnswer);
      }
    }
  });
}
