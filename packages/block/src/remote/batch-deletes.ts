import type { DeleteManyOptions } from '../adapter.ts';
import { BlockError } from '../errors.ts';
import { inParallel } from './in-parallel.ts';

const batchesAtOnce = 4;
const deletesAtOnce = 16;

/** How a store deletes: several objects with one request, or one. */
export interface BatchDeletes<T> {
  /** One request takes no more. */
  readonly batchSize: number;
  /** Objects of one group may go with one request. */
  groupOf(item: T): string;
  /** One request for several; answers those that are gone. */
  deleteBatch(items: readonly T[], options: DeleteManyOptions): Promise<ReadonlySet<T>>;
  /** Idempotent. */
  delete(item: T, options: DeleteManyOptions): Promise<void>;
}

export interface FailedDelete<T> {
  readonly item: T;
  readonly error: BlockError;
}

/**
 * Deletes all it can, in batches. What a batch leaves is deleted one by one, which tells why, or works: a store may know
 * no batches.
 */
export async function deleteAll<T>(
  store: BatchDeletes<T>,
  items: readonly T[],
  options: DeleteManyOptions = {},
): Promise<FailedDelete<T>[]> {
  const failures: FailedDelete<T>[] = [];
  const left: T[] = [];
  await inParallel(batchesAtOnce, batchesOf(store, items), async (batch) => {
    if (batch.length === 1) return void left.push(...batch);
    try {
      const gone = await store.deleteBatch(batch, options);
      left.push(...batch.filter((item) => !gone.has(item)));
    } catch (error) {
      if (!(error instanceof BlockError)) throw error;
      // A store that is away is not asked for each of them again.
      if (error.retryable) failures.push(...batch.map((item) => ({ item, error })));
      else left.push(...batch);
    }
  });
  await inParallel(deletesAtOnce, left, async (item) => {
    try {
      await store.delete(item, options);
    } catch (error) {
      if (!(error instanceof BlockError)) throw error;
      failures.push({ item, error });
    }
  });
  return failures;
}

function batchesOf<T>(store: BatchDeletes<T>, items: readonly T[]): T[][] {
  const batches: T[][] = [];
  for (const group of Map.groupBy(items, (item) => store.groupOf(item)).values()) {
    for (let start = 0; start < group.length; start += store.batchSize)
      batches.push(group.slice(start, start + store.batchSize));
  }
  return batches;
}
