import { describe, test } from 'vitest';
import { acceptOnStore, cloudStores } from './accept-on-store.ts';

const suites = ['packages/api/test', 'packages/gateway/test', 'packages/engine/test'];

describe.each(Object.entries(cloudStores))('on %s', (_server, open) => {
  test.each(suites)('the suites of %s pass', async (suite) => {
    const store = await open();
    if (store !== undefined) await acceptOnStore(store, [suite]);
  });
});
