import type { CommittedContext } from '../src/committed/context.ts';
import type { DumpProperties, RecordIterator } from '../src/committed/tree.ts';
import { NaiveTrees } from './naive-trees.ts';

/** Trees whose writes wait while held, so that a test can look at an operation half done. */
export class HoldableTrees extends NaiveTrees {
  #released: Promise<void> = Promise.resolve();
  #release: () => void = () => undefined;

  hold(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#released = promise;
    this.#release = resolve;
  }

  release(): void {
    this.#release();
  }

  override async write(
    context: CommittedContext,
    records: RecordIterator,
    dump?: DumpProperties,
  ): Promise<{ metaRangeId: string; count: number }> {
    await this.#released;
    return super.write(context, records, dump);
  }
}
