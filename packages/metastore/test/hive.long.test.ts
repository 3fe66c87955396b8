import { orSkipReason, startHive } from '@svc/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { HiveMetastore } from '../src/index.ts';
import { describeCopies, type Pair } from './copy-suite.ts';

const hive = await orSkipReason('the Hive metastore', startHive);

describe.skipIf(hive === undefined)("Hive's own metastore", () => {
  afterAll(() => hive?.dispose());

  const withinHive = (): Promise<Pair> => {
    const store = new HiveMetastore(hive?.address ?? '');
    const close = (): Promise<void> => {
      store.close();
      return Promise.resolve();
    };
    return Promise.resolve({ from: store, to: store, close });
  };
  describeCopies('copies within itself', withinHive, 'within one');

  it('understands its patterns', async () => {
    const store = new HiveMetastore(hive?.address ?? '');
    await store.createDatabase({ name: 'pattern_a', parameters: {} });
    await store.createDatabase({ name: 'pattern_b', parameters: {} });
    expect((await store.listDatabases('pattern_*')).toSorted()).toEqual(['pattern_a', 'pattern_b']);
    expect(await store.listDatabases('pattern_b|nothing')).toEqual(['pattern_b']);
    expect(await store.listDatabases('.*')).toContain('pattern_a');
    await expect(store.createDatabase({ name: 'no-such-name', parameters: {} })).rejects.toThrow(
      /refused create_database: .*no-such-name/,
    );
    store.close();
  });
});
