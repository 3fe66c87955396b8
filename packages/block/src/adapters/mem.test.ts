import { describeBlockAdapter } from '../suite/index.ts';
import { createMemAdapter } from './mem.ts';

describeBlockAdapter('mem', async () => {
  const adapter = createMemAdapter();
  return { adapter, namespace: 'mem://bucket/prefix', minPartSize: 1000, close: () => adapter.close() };
});
