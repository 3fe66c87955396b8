import { describeKvStore } from '@svc/kv/suite';
import { cosmosFake } from '@svc/testing';
import { openCosmosStore } from './cosmosdb.ts';

const { endpoint, key } = await cosmosFake();
const place = { endpoint, key, database: 'svc', container: 'kv' };
describeKvStore(
  'cosmosdb',
  () => openCosmosStore({ ...place, throughput: undefined, autoscale: false }),
  2_000,
);
