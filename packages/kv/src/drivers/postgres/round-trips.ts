import type { Pool, PoolClient } from 'pg';
import { KvError } from '../../errors.ts';
import { sendTogether, type Query, type QueryRows } from './bytes-query.ts';
import { databaseError } from './database-error.ts';

interface WaitingRead {
  readonly query: Query;
  readonly resolve: (rows: QueryRows) => void;
  readonly reject: (error: unknown) => void;
}

/** Takes statements to the server and brings their answers back. */
export class RoundTrips {
  readonly #pool: Pool;
  #leaving: (() => void)[] = [];
  #reads: WaitingRead[] = [];
  #closing: Promise<void> | undefined;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /**
   * Carries out statements one after the other, in one round trip. Each is a transaction of its own: it begins when the
   * one before it is committed.
   */
  async inTurn(queries: readonly [Query, ...Query[]]): Promise<readonly QueryRows[]> {
    const results = await this.#send(queries);
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw databaseError(failed.reason);
    return results.map((result) => (result as PromiseFulfilledResult<QueryRows>).value);
  }

  /** A statement that reads little. Those of one turn of the event loop share a round trip, and wake the server once. */
  read(query: Query): Promise<QueryRows> {
    return new Promise((resolve, reject) => {
      this.#reads.push({ query, resolve, reject });
      if (this.#reads.length === 1 && this.#leaving.length === 0) this.atEndOfTurn(() => undefined);
    });
  }

  /** Calls `leave` when the turn ends: what it reads shares the turn's round trip. */
  atEndOfTurn(leave: () => void): void {
    this.#leaving.push(leave);
    if (this.#leaving.length > 1) return;
    setImmediate(() => {
      const leaving = this.#leaving;
      for (const each of leaving) each();
      this.#leaving = [];
      void this.#sendReads();
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#pool.end();
    return this.#closing;
  }

  async #sendReads(): Promise<void> {
    const reads = this.#reads;
    if (reads.length === 0) return;
    this.#reads = [];
    try {
      const results = await this.#send(reads.map(({ query }) => query));
      for (const [index, result] of results.entries()) {
        if (result.status === 'fulfilled') reads[index]?.resolve(result.value);
        else reads[index]?.reject(databaseError(result.reason));
      }
    } catch (error) {
      for (const { reject } of reads) reject(error);
    }
  }

  /** A connection sends what it is given in one turn at once, and the server takes it in that order. */
  async #send(queries: readonly Query[]): Promise<readonly PromiseSettledResult<QueryRows>[]> {
    if (this.#closing !== undefined) throw new KvError('closed', 'the postgres key-value store is closed');
    const client = await this.#connect();
    // The statements under way fail with it; without a listener it would end the process.
    const ignore = (): void => undefined;
    client.on('error', ignore);
    const results = await Promise.allSettled(sendTogether(client, queries));
    client.off('error', ignore);
    // A connection on which a statement failed is not used again.
    client.release(results.some(({ status }) => status === 'rejected'));
    return results;
  }

  async #connect(): Promise<PoolClient> {
    try {
      return await new Promise((resolve, reject) => {
        this.#pool.connect((error, client) => {
          if (client === undefined) reject(error ?? new Error('the pool has no connection'));
          else resolve(client);
        });
      });
    } catch (error) {
      throw databaseError(error);
    }
  }
}
