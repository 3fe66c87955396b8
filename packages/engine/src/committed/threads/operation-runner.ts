import { Pace } from '../pace.ts';
import { asEngineError } from '../store/table-damage.ts';
import type { TableStore } from '../store/table-store.ts';
import type { WorkerHost } from './worker-host.ts';
import {
  type Operation,
  type OperationInput,
  type OperationResult,
  runOperation,
} from '../operations/operations.ts';
import { PackedBatch, type Packer } from '../operations/packed-changes.ts';
import { RecordBudget, TooManyRecords } from '../operations/record-budget.ts';
import type { SplitSettings } from '../operations/tree-writer.ts';

/** Larger work than this leaves the main thread. */
const inlineRecords = 2000;

export interface RunnerSite {
  readonly store: TableStore;
  readonly split: SplitSettings;
  readonly worker: WorkerHost | undefined;
}

/** Decides where an operation runs: little work here, much in the worker. */
export class OperationRunner {
  readonly #site: RunnerSite;

  constructor(site: RunnerSite) {
    this.#site = site;
  }

  /**
   * Collects the first batch here; little work is done at once, much goes to the worker batch by batch. `whenFew` is told
   * of all records when they are few.
   */
  async runWithRecords(
    operation: Operation,
    packer: Packer,
    whenFew?: (all: PackedBatch) => void,
  ): Promise<OperationResult> {
    this.#site.worker?.start();
    const batch = new PackedBatch();
    await packer.fillAll(batch, new Pace(), () => batch.count > inlineRecords);
    if (packer.ended && batch.count <= inlineRecords) {
      whenFew?.(batch);
      return this.run(operation, batch);
    }
    const { worker } = this.#site;
    if (worker !== undefined) return worker.run(operation, batch, packer);
    return this.#runHere(operation, { first: batch, packer });
  }

  async run(
    operation: Operation,
    first?: PackedBatch,
    whileStoring?: (metaRangeId: string) => void,
  ): Promise<OperationResult> {
    const { worker } = this.#site;
    worker?.start();
    // Until the thread is up, slices here are sooner done than waiting for it.
    if (worker?.isReady !== true) return this.#runHere(operation, { first, whileStoring });
    try {
      const budget = new RecordBudget(inlineRecords);
      return await this.#runHere(operation, { first, whileStoring, budget });
    } catch (error) {
      if (!(error instanceof TooManyRecords)) throw error;
      return worker.run(operation, first);
    }
  }

  async #runHere(
    operation: Operation,
    input: Pick<OperationInput, 'budget' | 'whileStoring'> & {
      readonly first?: PackedBatch | undefined;
      readonly packer?: Packer | undefined;
    },
  ): Promise<OperationResult> {
    const { store, split } = this.#site;
    const { packer, budget, whileStoring } = input;
    const pace = new Pace();
    let batch = input.first;
    const nextBatch = async (): Promise<Buffer | undefined> => {
      if (batch === undefined) {
        batch = new PackedBatch();
        await packer?.fillAll(batch, pace);
      }
      const { bytes, length } = batch;
      batch = undefined;
      return length === 0 ? undefined : bytes.subarray(0, length);
    };
    try {
      return await runOperation({ store, split }, operation, { nextBatch, budget, whileStoring });
    } catch (error) {
      throw asEngineError(error);
    }
  }
}
