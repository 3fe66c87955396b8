import { createHash, type Hash } from 'node:crypto';
import type { MessagePort } from 'node:worker_threads';
import type { FromHasher, ToHasher } from './worker-messages.ts';

interface RunningHash {
  readonly hash: Hash;
  readonly kept: Hash[];
}

/**
 * Hashes record bytes for a tree worker, on another core: SHA-256 is the costliest single step of a new range. The
 * states it is told to keep spare a range that starts like an earlier one the hashing of what they share.
 */
export function serveHashes(port: MessagePort): void {
  const running = new Map<number, RunningHash>();
  const kept = new Map<number, Hash[]>();
  const hashOf = (id: number): RunningHash => {
    let found = running.get(id);
    if (found === undefined) {
      found = { hash: createHash('sha256'), kept: [] };
      running.set(id, found);
    }
    return found;
  };
  const send = (message: FromHasher, transfer: ArrayBuffer[] = []): void =>
    port.postMessage(message, transfer);
  port.on('message', (message: ToHasher) => {
    switch (message.type) {
      case 'resume': {
        const states = kept.get(message.from)?.slice(0, message.states) ?? [];
        const last = states.at(-1);
        if (last === undefined) throw new Error(`no state of hash ${message.from} is kept`);
        running.set(message.hash, { hash: last.copy(), kept: states });
        return;
      }
      case 'update': {
        const { hash, kept: states } = hashOf(message.hash);
        hash.update(new Uint8Array(message.bytes, 0, message.length));
        if (message.keep) states.push(hash.copy());
        send({ type: 'spare', bytes: message.bytes }, [message.bytes]);
        return;
      }
      case 'digest': {
        const { hash, kept: states } = hashOf(message.hash);
        running.delete(message.hash);
        const digest = hash.update(message.last).digest('hex');
        if (states.length > 0) kept.set(message.hash, states);
        send({ type: 'digest', hash: message.hash, digest });
        return;
      }
      case 'forget':
        running.delete(message.hash);
        kept.delete(message.hash);
    }
  });
}
