// One process of the key-value benchmark: opens the store, runs the load it is told, answers with what it did.
import { openStore, type KvStore, type KvStoreConfig } from '@svc/kv';

export interface LoadRequest {
  readonly load: 'put' | 'cas' | 'get' | 'scan';
  readonly writers: number;
  readonly seconds: number;
  readonly rows: number;
  /** Keeps the keys of processes apart. */
  readonly name: string;
}

export interface LoadAnswer {
  readonly operations: number;
  readonly elapsedMs: number;
  readonly latenciesMs: readonly number[];
  readonly cpuMs: number;
}

export const scanned = Buffer.from('benchmark-scan');
export const value = Buffer.alloc(200, 'v');

export function rowKey(index: number): Buffer {
  return Buffer.from(`tables/events/date=2026-01-01/part-${String(index).padStart(10, '0')}.parquet`);
}

const written = Buffer.from('benchmark-write');
const latencySamples = 200_000;

async function runLoad(store: KvStore, request: LoadRequest): Promise<LoadAnswer> {
  const latenciesMs: number[] = [];
  let operations = 0;
  const started = performance.now();
  const end = started + request.seconds * 1000;
  const cpu = process.cpuUsage();
  const loop = async (once: () => Promise<number>): Promise<void> => {
    let before = performance.now();
    while (before < end) {
      const done = await once();
      operations += done;
      const after = performance.now();
      if (latenciesMs.length < latencySamples) latenciesMs.push(after - before);
      before = after;
    }
  };
  await Promise.all(
    Array.from({ length: request.writers }, (_, writer) => loop(operation(store, request, writer))),
  );
  const elapsedMs = performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  return { operations, elapsedMs, latenciesMs, cpuMs: (user + system) / 1000 };
}

/** One step of a writer; answers how many operations it stands for. */
function operation(store: KvStore, request: LoadRequest, writer: number): () => Promise<number> {
  let count = 0;
  const own = Buffer.from(`${request.name}/${writer}`);
  switch (request.load) {
    case 'put':
      return async () => {
        await store.set(written, Buffer.from(`${request.name}/${writer}/${count++}`), value);
        return 1;
      };
    case 'cas':
      return async () => {
        const current = await store.get(written, own);
        const next = Buffer.from(`${count++}`);
        return (await store.setIf(written, own, next, current?.predicate ?? 'absent')) ? 1 : 0;
      };
    case 'get': {
      let index = writer * 7919;
      return async () => {
        for (let read = 0; read < 100; read++) {
          index = (index + 104_729) % request.rows;
          if ((await store.get(scanned, rowKey(index))) === undefined) throw new Error('a row is missing');
        }
        // Reads of the local store end in this very turn; a server has other work between them.
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
        return 100;
      };
    }
    case 'scan':
      return async () => {
        let rows = 0;
        for await (const page of store.scan(scanned)) rows += page.length;
        if (rows !== request.rows) throw new Error(`the scan found ${rows} of ${request.rows} rows`);
        return rows;
      };
  }
}

async function serve(): Promise<void> {
  const store = await openStore(JSON.parse(process.argv[2] ?? '') as KvStoreConfig);
  process.on('message', (request: LoadRequest) => {
    void runLoad(store, request).then((answer) => process.send?.(answer));
  });
  process.once('disconnect', () => void store.close());
  process.send?.('ready');
}

if (process.argv[1] === import.meta.filename) await serve();
