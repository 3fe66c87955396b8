// What a record of a repository costs PostgreSQL while their number grows: creations as those of branches, 32 at once.
//   node bench/src/kv-growth.ts [steps] [creations in each]
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '@svc/kv';
import { startPostgres } from '@svc/testing';

const [steps = 7, each = 2000] = process.argv.slice(2).map(Number);
const server = await startPostgres();
const { connectionString = '', data = '' } = server.address;
const main = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
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

/** Of the process and all below it, ended ones too. */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  let ms = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const children = readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean);
    for (const child of children) ms += processorMs(Number(child));
  }
  return ms;
}

for (let step = 0; step < steps; step += 1) {
  const before = processorMs(main);
  const begun = performance.now();
  let left = each;
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      while (left-- > 0) await create();
    }),
  );
  const micros = ((processorMs(main) - before) * 1000) / each;
  const rate = (each / (performance.now() - begun)) * 1000;
  console.log(
    `${made * 3} records: ${micros.toFixed(0)} µs of the database each, ${rate.toFixed(0)} a second`,
  );
}
await store.close();
await server.dispose();
