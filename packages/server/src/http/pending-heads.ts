import type { Socket } from 'node:net';

/** All heads that are still arriving, together. One may be a mebibyte; most are a few hundred bytes. */
const mostBytes = 32 * 1024 * 1024;
const lookMs = 500;

const state = Symbol('pending head');

interface State {
  /** Requests of the connection that are being served. */
  serving: number;
  /** A request was answered since we looked, so what had arrived before was not all head. */
  answered: boolean;
  /** Bytes of the connection when nothing of a head had arrived. */
  bytesBefore: number;
}

type Watched = Socket & { [state]?: State };

/**
 * Bounds the memory of heads that have not arrived yet: a client that opens hundreds of connections and ends the head on
 * none of them would fill it. Beyond the bound the largest are cut off.
 */
export class PendingHeads {
  readonly #sockets = new Set<Watched>();
  readonly #mostBytes: number;
  readonly #timer: NodeJS.Timeout;

  constructor(bytes: number = mostBytes) {
    this.#mostBytes = bytes;
    this.#timer = setInterval(() => this.look(), lookMs).unref();
  }

  connected(socket: Watched): void {
    socket[state] = { serving: 0, answered: false, bytesBefore: 0 };
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  arrived(socket: Watched): void {
    const known = socket[state];
    if (known !== undefined) known.serving++;
  }

  answered(socket: Watched): void {
    const known = socket[state];
    if (known === undefined) return;
    known.serving--;
    known.answered = true;
  }

  look(): void {
    const pending: { readonly socket: Watched; readonly bytes: number }[] = [];
    let total = 0;
    for (const socket of this.#sockets) {
      const bytes = pendingBytes(socket);
      if (bytes === 0) continue;
      total += bytes;
      pending.push({ socket, bytes });
    }
    if (total <= this.#mostBytes) return;
    pending.sort((a, b) => b.bytes - a.bytes);
    for (const { socket, bytes } of pending) {
      socket.destroy();
      total -= bytes;
      if (total <= this.#mostBytes) return;
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

function pendingBytes(socket: Watched): number {
  const known = socket[state];
  if (known === undefined) return 0;
  const { bytesRead } = socket;
  if (known.serving > 0 || known.answered) {
    known.answered = false;
    known.bytesBefore = bytesRead;
  }
  return bytesRead - known.bytesBefore;
}
