import { createHash, type Hash } from 'node:crypto';
import type { MessagePort } from 'node:worker_threads';
import type { FromHasher, ToHasher } from './worker-messages.ts';

/** Hashes record bytes for a tree worker, on another core: SHA-256 is the costliest single step of a new range. */
export function serveHashes(port: MessagePort): void {
  const hashes = new Map<number, Hash>();
  const hashOf = (id: number): Hash => {
    let hash = hashes.get(id);
    if (hash === undefined) {
      hash = createHash('sha256');
      hashes.set(id, hash);
    }
    return hash;
  };
  const send = (message: FromHasher, transfer: ArrayBuffer[] = []): void =>
    port.postMessage(message, transfer);
  port.on('message', (message: ToHasher) => {
    const hash = hashOf(message.hash);
    if (message.type === 'update') {
      hash.update(new Uint8Array(message.bytes, message.start, message.end - message.start));
      send({ type: 'spare', bytes: message.bytes }, [message.bytes]);
    } else {
      hashes.delete(message.hash);
      send({ type: 'digest', hash: message.hash, digest: hash.update(message.last).digest('hex') });
    }
  });
}
