import type { Socket } from 'node:net';

/**
 * Ends connections that were not used for as long as the server allows. A timer of each socket, as node:http would
 * start and stop it for every request, costs as much as reading the request's head; here one timer serves all.
 */
export class IdleConnections {
  readonly #until = new Map<Socket, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(everyMs: number) {
    this.#timer = setInterval(() => this.#look(), everyMs).unref();
  }

  /** From now on the socket's timeout is kept here, and is late by up to the time between two looks. */
  watch(socket: Socket): void {
    socket.setTimeout = (ms) => {
      if (ms === 0) this.#until.delete(socket);
      else this.#until.set(socket, performance.now() + ms);
      return socket;
    };
    socket.once('close', () => this.#until.delete(socket));
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    for (const [socket, until] of this.#until) {
      if (until > now) continue;
      this.#until.delete(socket);
      socket.emit('timeout');
    }
  }
}
