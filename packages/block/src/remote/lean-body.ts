import { Readable, type Writable } from 'node:stream';
import type { ObjectBody } from '../adapter.ts';
import { BlockError } from '../errors.ts';
import type { LeanConnection } from './lean-connection.ts';

/** A body that is read from the connection as its reader takes it. */
export class LeanBody implements ObjectBody {
  readonly size: number;
  readonly bytes = undefined;
  readonly #connection: LeanConnection;
  readonly #release: (whole: boolean) => void;
  readonly #first: Buffer;
  #left: number;
  /** The connection may serve others by now. */
  #isOver = false;

  constructor(connection: LeanConnection, size: number, first: Buffer, release: (whole: boolean) => void) {
    this.#connection = connection;
    this.size = size;
    this.#first = first;
    this.#left = size - first.length;
    this.#release = release;
    connection.listen({ take: () => false, fail: () => this.#done(false) });
  }

  /** All of it in one buffer. */
  collect(): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const all = Buffer.allocUnsafe(this.size);
      this.#first.copy(all);
      const finish = (): void => {
        this.#done(true);
        resolve(all);
      };
      const fail = (error: Error): void => {
        this.#done(false);
        reject(error);
      };
      if (this.#left === 0) {
        finish();
        return;
      }
      this.#connection.listen({
        take: (bytes) => {
          if (bytes.length > this.#left) {
            fail(new Error('the store sent more than it announced'));
            return false;
          }
          bytes.copy(all, this.size - this.#left);
          this.#left -= bytes.length;
          if (this.#left === 0) finish();
          return true;
        },
        fail,
      });
    });
  }

  sendTo(sink: Writable): Promise<void> {
    return new Promise((resolve, reject) => {
      const connection = this.#connection;
      let unwritten = 0;
      let over = false;
      const stop = (error: Error): void => {
        if (over) return;
        over = true;
        sink.off('close', gone);
        this.#done(false);
        sink.destroy(error);
        reject(error);
      };
      const gone = (): void => stop(new Error('the reader went away before the end of the object'));
      const write = (bytes: Buffer, written: () => void): void => {
        unwritten += 1;
        sink.write(bytes, (error) => {
          unwritten -= 1;
          written();
          if (error !== null && error !== undefined) stop(error);
          else if (this.#left === 0 && unwritten === 0 && !over) {
            over = true;
            sink.off('close', gone);
            this.#done(true);
            sink.end();
            resolve();
          } else if (!over && this.#left > 0 && connection.hasSpare) connection.resume();
        });
      };
      sink.on('close', gone);
      connection.listen({
        take: (bytes) => {
          if (bytes.length > this.#left) {
            stop(new Error('the store sent more than it announced'));
            return false;
          }
          const buffer = connection.keepTaken();
          if (buffer === undefined) {
            stop(new Error('no buffer is free'));
            return false;
          }
          this.#left -= bytes.length;
          write(bytes, () => connection.giveBack(buffer));
          return this.#left > 0 && connection.hasSpare;
        },
        fail: (error) => stop(brokenOff(error)),
      });
      if (this.#first.length > 0) write(this.#first, () => undefined);
      else connection.resume();
    });
  }

  stream(): Readable {
    const connection = this.#connection;
    let sentFirst = false;
    const finish = (): void => {
      this.#done(true);
      readable.push(null);
    };
    const readable = new Readable({
      read: () => {
        if (!sentFirst) {
          sentFirst = true;
          const wantsMore = readable.push(this.#first);
          if (this.#left === 0) finish();
          else if (wantsMore) connection.resume();
        } else if (this.#left > 0) connection.resume();
      },
      destroy: (error, callback) => {
        this.#done(this.#left === 0);
        callback(error);
      },
    });
    connection.listen({
      take: (bytes) => {
        if (bytes.length > this.#left) {
          readable.destroy(brokenOff(new Error('the store sent more than it announced')));
          return false;
        }
        this.#left -= bytes.length;
        const wantsMore = readable.push(Buffer.from(bytes));
        if (this.#left > 0) return wantsMore;
        finish();
        return true;
      },
      fail: (error) => readable.destroy(brokenOff(error)),
    });
    return readable;
  }

  dispose(): void {
    this.#done(false);
  }

  #done(whole: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#release(whole);
  }
}

function brokenOff(cause: Error): BlockError {
  return new BlockError('unavailable', `the answer of the store broke off: ${cause.message}`, { cause });
}
