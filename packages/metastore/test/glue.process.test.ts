import { testServerOrSkip } from '@svc/testing';
import { describe } from 'vitest';
import { GlueMetastore, HiveMetastore, type GlueAccount } from '../src/index.ts';
import { describeCopies, type Pair } from './copy-suite.ts';
import { HiveFake } from './hive-fake.ts';

const moto = await testServerOrSkip('moto');

function account(): GlueAccount {
  if (moto === undefined) throw new Error('no moto');
  const { endpoint, region, accessKeyId, secretAccessKey } = moto;
  return { endpoint, region, credentials: { accessKeyId, secretAccessKey } };
}

describe.skipIf(moto === undefined)('Glue', () => {
  const withinGlue = (): Promise<Pair> => {
    const glue = new GlueMetastore(account());
    return Promise.resolve({ from: glue, to: glue, close: () => Promise.resolve() });
  };
  describeCopies('within Glue', withinGlue, 'within one');

  describeCopies('from Hive to Glue', async () => {
    const fake = await HiveFake.start();
    const hive = new HiveMetastore(fake.address);
    const close = async (): Promise<void> => {
      hive.close();
      await fake.stop();
    };
    return { from: hive, to: new GlueMetastore(account()), close };
  });

  describeCopies('from Glue to Hive', async () => {
    const fake = await HiveFake.start();
    const hive = new HiveMetastore(fake.address);
    const close = async (): Promise<void> => {
      hive.close();
      await fake.stop();
    };
    return { from: new GlueMetastore(account()), to: hive, close };
  });
});
