import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { HiveMetastore, Table } from '@svc/metastore';
import { allButLinkLocal, Outgoing, type OutgoingOptions } from '@svc/outgoing';
import { afterAll, afterEach } from 'vitest';
import { createLuaHook, type ApiRequest } from '../src/lua/lua-hook.ts';
import { LuaRunner } from '../src/lua/lua-runner.ts';
import type { HookRunning } from '../src/running/hook.ts';

const memoryBytes = 64 * 1024 ** 2;
export const setting = 'actions.allowed_networks';
export const open: OutgoingOptions = { rule: allButLinkLocal(setting) };
const runner = new LuaRunner({ memoryBytes, netHttpEnabled: false, maxRunning: 2 });
afterAll(() => runner.close());

/** Called after the test, the last one first. */
export const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

export const storage = {
  columns: [{ name: 'id', type: 'bigint' }],
  location: 's3a://lake/main/orders',
  compressed: false,
  buckets: 0,
  serde: { name: 'orders', library: 'Lazy', parameters: {} },
  bucketColumns: [],
  sortColumns: [],
  parameters: {},
};
export const orders: Table = {
  database: 'sales',
  name: 'orders',
  lastAccessTime: 0,
  retention: 0,
  parameters: {},
  storage,
  partitionKeys: [{ name: 'year', type: 'string' }],
};

/** A schema with a table of two partitions. */
export async function fill(store: HiveMetastore): Promise<void> {
  await store.createDatabase({ name: 'sales', location: 's3a://lake/main/db', parameters: {} });
  await store.createTable(orders);
  await store.addPartitions(
    ['2025', '2026'].map((year) => ({
      database: 'sales',
      table: 'orders',
      values: [year],
      lastAccessTime: 0,
      parameters: {},
      storage: { ...storage, location: `s3a://lake/main/orders/year=${year}` },
    })),
  );
}

export interface Surroundings {
  readonly outgoing?: OutgoingOptions;
  readonly args?: Readonly<Record<string, unknown>>;
  /** Aborted when the server must stop. */
  readonly signal?: AbortSignal;
  readonly memoryBytes?: number;
}

/** Runs a hook as its event would: what it prints, the calls of the API it makes, and why it fails. */
export async function runHook(script: string, surroundings: Surroundings = {}) {
  let output = '';
  let failure = '';
  const asked: ApiRequest[] = [];
  const source = `local metastore, json = require("svc/metastore"), require("encoding/json")
    local hive = {type = "hive", address = args.hive}
    local other = {type = "hive", address = args.other}
    local function show(value) print(json.marshal(value)) end
    ${script}`;
  const hook = createLuaHook(
    {
      id: 'copy_it',
      type: 'lua',
      properties: {
        script: source,
        args: surroundings.args ?? {},
      },
    } as unknown as Parameters<typeof createLuaHook>[0],
    {
      runner,
      callApi(request) {
        asked.push(request);
        const location = 's3://store/ns/symlinks';
        return Promise.resolve({ status: 201, body: Buffer.from(JSON.stringify({ location })) });
      },
      memoryBytes: surroundings.memoryBytes ?? memoryBytes,
      awaitedTimeoutMs: undefined,
      otherTimeoutMs: undefined,
      outgoing: new Outgoing(surroundings.outgoing ?? open),
      environment: { enabled: false, prefix: '', variables: {} },
    },
  );
  try {
    await hook.run({
      event: {
        type: 'post-commit',
        sourceRef: 'main',
        actor: { userId: 'ada', committer: 'ada' },
        repository: { id: 'lake', metadataPrefix: '_svc', storageNamespace: 's3://store/ns' },
      },
      runId: 'r1',
      actionName: 'copies',
      hookId: 'copy_it',
      output: { write: (bytes: Uint8Array) => (output += Buffer.from(bytes).toString()) },
      signal: surroundings.signal ?? new AbortController().signal,
      isAwaited: true,
      depth: 0,
    } as unknown as HookRunning);
  } catch (error) {
    failure = (error as Error).message;
  }
  return { output, failure, asked };
}

/** A metastore that answers its greeting with zeros without end, after the beginning of a result (hexadecimal). */
export const startEndless = (result: string) =>
  startListener((socket) => {
    socket.write(Buffer.from(`80010002000000076765744e616d6500000000${result}`, 'hex'));
    const zeros = Buffer.alloc(64 * 1024);
    const pour = (): void => {
      while (!socket.destroyed && socket.write(zeros));
      socket.once('drain', pour);
    };
    pour();
  });

/** What a script has shown. */
export const documents = (output: string): unknown[] =>
  output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);

/** Something else that listens, and notes what it is told. */
export async function startListener(answer: (socket: Socket) => void) {
  const heard: Buffer[] = [];
  const ends: Promise<void>[] = [];
  const server = createServer((socket) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.push(promise);
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.on('data', (bytes: Buffer) => {
      heard.push(bytes);
      answer(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => server.close());
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, heard, ends };
}
