import { afterAll, beforeAll, describe } from 'vitest';
import type { KvStore } from '../store.ts';
import { entryCases } from './entry-cases.ts';
import { iteratorCases } from './iterator-cases.ts';
import { modelCases } from './model-cases.ts';
import { bulkCases } from './bulk-cases.ts';
import { changeCases } from './change-cases.ts';
import { raceCases } from './race-cases.ts';
import { scanCases } from './scan-cases.ts';
import { secondaryCases } from './secondary-cases.ts';

/** What a group of cases gets: a handle shared by the group, and a way to open another one on the same data. */
export interface SuiteContext {
  readonly store: KvStore;
  readonly open: () => Promise<KvStore>;
  /** How many entries bulk calls are tried with. */
  readonly many: number;
}

/**
 * The contract every driver must keep. `open` gives a handle; every handle of one suite reaches the same data. Cases
 * use partitions of their own, so the data behind may be shared with other tests.
 */
export function describeKvStore(name: string, open: () => Promise<KvStore>, many = 10_000): void {
  describe(`key-value store ${name}`, () => {
    let store: KvStore | undefined;
    const context: SuiteContext = {
      get store() {
        if (store === undefined) throw new Error('the store is not open');
        return store;
      },
      open,
      many,
    };
    beforeAll(async () => {
      store = await open();
    });
    afterAll(async () => {
      await store?.close();
    });
    entryCases(context);
    changeCases(context);
    bulkCases(context);
    raceCases(context);
    scanCases(context);
    iteratorCases(context);
    secondaryCases(context);
    modelCases(context);
  });
}
