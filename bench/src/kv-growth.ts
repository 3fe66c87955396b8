// What a record of a repository costs PostgreSQL while their number grows: creations as those of branches, 32 at once.
//   node bench/src/kv-growth.ts [steps] [creations in each]
import { openStore } from '@svc/kv';
import { startPostgres } from '@svc/testing';
import { processorMsOf } from './driver/processor-time.ts';

const [steps = 7, each = 2000] = process.argv.slice(2).map(Number);
const server = await startPostgres();
const { connectionString = '' } = server.address;
const store = await openStore({
  type: 'postgres',
  connectionString,
  maxOpenConnections: 25,
  maxIdleConnections: 25,
  connectionMaxLifetimeMs: 0,
  scanPageSize: 1000,
});
const partition = Buffer.from('repository');
const value = Buffer.alloc(150, 'v');
let made = 0;

async function create(): Promise<void> {
  const number = made++;
  const key = (kind: string): Buffer => Buffer.from(`${kind}/${number}`);
  await store.change(
    partition,
    { key: key('branches'), condition: 'absent' },
    ['branches', 'moves', 'outbox'].map((kind) => ({ type: 'put', key: key(kind), value }) as const),
    { key: key('graves'), value: undefined },
  );
}

for (let step = 0; step < steps; step += 1) {
  const before = processorMsOf('postgres');
  const begun = performance.now();
  let left = each;
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      while (left-- > 0) await create();
    }),
  );
  const micros = ((processorMsOf('postgres') - before) * 1000) / each;
  const rate = (each / (performance.now() - begun)) * 1000;
  console.log(
    `${made * 3} records: ${micros.toFixed(0)} µs of the database each, ${rate.toFixed(0)} a second`,
  );
}
await store.close();
await server.dispose();
