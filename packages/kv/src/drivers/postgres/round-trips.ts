import type { Pool, PoolClient } from 'pg';
import { KvError } from '../../errors.ts';
import { sendTogether, type Query, type QueryRows } from './bytes-query.ts';
import { databaseError } from './database-error.ts';

/** Longer than a read takes that waits for nothing. */
const lateMs = 1000;

interface WaitingRead {
  readonly query: Query;
  readonly resolve: (rows: QueryRows) => void;
  readonly reject: (error: unknown) => void;
  isAnswered: boolean;
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
    const results = await Promise.allSettled(await this.#leave(queries));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw databaseError(failed.reason);
    return results.map((result) => (result as PromiseFulfilledResult<QueryRows>).value);
  }

  /** A statement that reads little. Those of one turn of the event loop share a round trip, and wake the server once. */
  read(query: Query): Promise<QueryRows> {
    return new Promise((resolve, reject) => {
      this.#reads.push({ query, resolve, reject, isAnswered: false });
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
    let late: NodeJS.Timeout | undefined;
    try {
      const answers = await this.#leave(reads.map(({ query }) => query));
      if (reads.length > 1) late = setTimeout(() => this.#askAgain(reads), lateMs);
      await Promise.all(reads.map((read, index) => tell(read, answers[index])));
    } catch (error) {
      for (const { reject } of reads) reject(error);
    } finally {
      clearTimeout(late);
    }
  }

  /** The first one without an answer may wait for a lock of its table. Those behind it need not: whoever is first answers. */
  #askAgain(reads: readonly WaitingRead[]): void {
    const [, ...behind] = reads.filter(({ isAnswered }) => !isAnswered);
    for (const read of behind) {
      this.inTurn([read.query]).then(
        ([rows = noRows]) => read.resolve(rows),
        // The answer that is under way decides.
        () => undefined,
      );
    }
  }

  /** A connection sends what it is given in one turn at once, and the server takes it in that order. */
  async #leave(queries: readonly Query[]): Promise<readonly Promise<QueryRows>[]> {
    if (this.#closing !== undefined) throw new KvError('closed', 'the postgres key-value store is closed');
    const client = await this.#connect();
    const answers = sendTogether(client, queries);
    void Promise.allSettled(answers).then((results) => {
      // A connection on which a statement failed is not used again.
      client.release(results.some(({ status }) => status === 'rejected'));
    });
    return answers;
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

const noRows: QueryRows = { rows: [], rowCount: 0 };

/** Nobody waits for the statements behind his own. */
async function tell(read: WaitingRead, answer: Promise<QueryRows> | undefined): Promise<void> {
  try {
    read.resolve((await answer) ?? noRows);
  } catch (error) {
    read.reject(databaseError(error));
  } finally {
    read.isAnswered = true;
  }
}
