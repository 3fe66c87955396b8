import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { countStreamed } from '@svc/http';
import { RequestError } from './request-error.ts';

/**
 * The body of a request as a stream of its own: a store destroys what it refuses, and destroying the request itself
 * would end the connection before the answer is sent.
 */
export class UploadStream extends Readable {
  readonly #request: IncomingMessage;
  #started = false;

  constructor(request: IncomingMessage) {
    super({ highWaterMark: 1024 * 1024 });
    this.#request = request;
  }

  override _read(): void {
    if (!this.#started) {
      this.#started = true;
      this.#request.on('data', this.#onData).on('end', this.#onEnd);
      this.#request.on('error', this.#onGone).on('close', this.#onGone);
      if (this.#request.destroyed && !this.#request.readableEnded) this.#onGone();
    }
    this.#request.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#request.off('data', this.#onData).off('end', this.#onEnd);
    this.#request.off('error', this.#onGone).off('close', this.#onGone);
    // Do not pause: this may happen late, while the answer is being sent and the rest of the body is drained.
    done(error);
  }

  readonly #onData = (data: Buffer): void => {
    countStreamed(data.length);
    if (!this.push(data)) this.#request.pause();
  };
  readonly #onEnd = (): void => {
    this.push(null);
  };
  readonly #onGone = (): void => {
    if (!this.#request.readableEnded) this.destroy(new RequestError(499, 'the client went away'));
  };
}
