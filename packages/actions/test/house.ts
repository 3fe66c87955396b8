import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BlockStores, createMemAdapter } from '@svc/block';
import { openEngine, type Engine } from '@svc/engine';
import { createMemStore, LocalCacheBus, MemState, type KvStore } from '@svc/kv';
import { allButLinkLocal, Outgoing } from '@svc/outgoing';
import { ActionHooks } from '../src/action-hooks.ts';
import { LuaRunner } from '../src/lua/lua-runner.ts';
import type { CallApi } from '../src/lua/lua-hook.ts';
import { createHookMaker } from '../src/running/make-hook.ts';

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A receiver of webhooks that notes what it is sent. */
export async function startReceiver(
  answer: (received: Received, response: ServerResponse) => void = (_, response) => response.end('fine'),
) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      received.push({ method, url, headers, body });
      answer({ method, url, headers, body }, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** For what happens in the background, on a machine with other things to do. */
export const patience = { timeout: 25_000 };

const actor = { committer: 'ada', userId: 'ada' };

/** An engine with hooks over stores in memory. Several share the stores as servers do. */
export async function openHouse(
  options: {
    readonly state?: MemState;
    /** Used instead of a store in memory. */
    readonly kv?: KvStore;
    readonly blocks?: BlockStores;
    /** Removed with the house; absent is one of its own. */
    readonly cacheDir?: string;
    readonly variables?: Record<string, string>;
    readonly runsQueue?: boolean;
    readonly leaseTermMs?: number;
    readonly callApi?: CallApi;
    readonly clock?: () => number;
  } = {},
) {
  const state = options.state ?? new MemState();
  const kv = options.kv ?? createMemStore(state);
  const blocks = options.blocks ?? new BlockStores([createMemAdapter({})]);
  const cacheDir = options.cacheDir ?? (await mkdtemp(join(tmpdir(), 'svc-actions-')));
  const memoryBytes = 64 * 1024 ** 2;
  const runner = new LuaRunner({ memoryBytes, netHttpEnabled: false, maxRunning: 4 });
  const logged: string[] = [];
  const log = (fields: object, message: string): void => {
    const error = (fields as { error?: Error }).error;
    logged.push(`${message}${error === undefined ? '' : `: ${error.stack ?? ''}`}`);
  };
  let opened: Engine | undefined;
  const engineOf = (): Engine => {
    if (opened === undefined) throw new Error('the engine is not open yet');
    return opened;
  };
  const hooks: ActionHooks = new ActionHooks({
    kv,
    blockStores: blocks,
    engine: engineOf,
    makeHook: createHookMaker({
      outgoing: new Outgoing({ rule: allButLinkLocal('actions.allowed_networks') }),
      environment: { enabled: true, prefix: 'SVCACTION_', variables: options.variables ?? {} },
      lua: {
        runner,
        callApi: options.callApi ?? (() => Promise.resolve({ status: 401, body: Buffer.from('{}') })),
        memoryBytes,
        awaitedTimeoutMs: 20_000,
        otherTimeoutMs: 20_000,
      },
      airflowPollMs: 5,
    }),
    logger: { debug: () => undefined, info: log, warn: log, error: log },
    onQueued: (queue) => {
      if (options.runsQueue !== false) void hooks.runQueued(queue);
    },
    leaseTermMs: options.leaseTermMs,
    clock: options.clock,
  });
  const { engine } = await openEngine({
    kv,
    blockStores: blocks,
    cacheBus: new LocalCacheBus(),
    signingSecret: 'secret',
    cacheDir,
    hooks,
  });
  opened = engine;
  const put = (path: string, text: string, branch = 'main') =>
    engine.objects.upload({ repository: 'repo', branch, path, body: Buffer.from(text) });
  return {
    engine,
    hooks,
    state,
    blocks,
    logged,
    put,
    create: (storageNamespace = 'mem://repo') =>
      engine.repositories.create({ name: 'repo', storageNamespace, actor }),
    commit: (message = 'commit', branch = 'main') =>
      engine.commits.create({ repository: 'repo', branch, message, actor, metadata: { k: 'v' } }),
    actor,
    async runs() {
      return (await hooks.runs.list({ repository: 'repo' })).items;
    },
    async close() {
      await hooks.close();
      await runner.close();
      await engine.close();
      await kv.close();
      await rm(cacheDir, { recursive: true, force: true });
    },
  };
}

export type House = Awaited<ReturnType<typeof openHouse>>;
