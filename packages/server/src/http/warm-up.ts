import { duplexPair, type Duplex } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { basePath, createApi, type ApiOptions } from '@svc/api';
import type { Identity } from '@svc/auth';
import type { Engine } from '@svc/engine';
import { silentUsage } from '../compose/engine.ts';
import { Listener } from './listener.ts';

interface WarmUpOptions extends Pick<ApiOptions, 'engine' | 'auth' | 'installation'> {
  /** A test has its own patience. */
  readonly limitMs?: number | undefined;
}

/** Long enough for the first hundred requests on an idle machine. Whoever waits for the server waits for this, too. */
const defaultLimitMs = 50;
/** Objects are looked for in so many repositories. */
const maxRepositories = 10;
const maxTables = 64;

/** Nobody: it exists in this process only, and only for as long as the warm-up takes. */
const nobody: Identity = {
  user: { username: 'warm-up', createdAt: 0, source: 'internal' },
  method: 'basic',
};

/**
 * Reads what the stores hold by requests of this process to itself, until the time is over. Code that never ran is slow,
 * and those who waited for a server to start come all at once.
 *
 * Nothing is written, logged or counted, and nobody else can reach the connection. Whatever goes wrong is left for the
 * first caller to be told.
 */
export async function warmUp(options: WarmUpOptions): Promise<void> {
  const limitMs = options.limitMs ?? defaultLimitMs;
  const endsAt = performance.now() + limitMs;
  const own = new OwnConnection(options);
  const { promise: isOver, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, limitMs);
  try {
    await Promise.race([readUntil(endsAt, options.engine, own), isOver]);
  } catch {
    // A store that is down, a damaged table: the server starts all the same.
  } finally {
    clearTimeout(timer);
    await own.close();
  }
}

export interface FurtherWarmUpOptions extends WarmUpOptions {
  /** How many requests of others have come to this process. */
  readonly arrivals: () => number;
  /** So many processes of this server do the same. */
  readonly workers: number;
}

/** Of reading: a third of it gives half of the gain. */
const furtherMs = 1500;
/** Until then a quiet moment may come. */
const patienceMs = 10_000;
/** However many workers there are, together they ask the stores about as much as so many. */
const readersAtOnce = 2;
/** Shorter rests come together. */
const leastRestMs = 5;
/** As long as a request came within this time, others have the process for themselves. */
const quietMs = 50;

/**
 * Goes on reading when the server is open, while nobody comes: V8 compiles for good what has run a thousand times, and a
 * load balancer sends the first requests some seconds after a server is healthy. These reads, some thousands, are counted by
 * the metrics of the stores.
 */
export function warmUpFurther(options: FurtherWarmUpOptions): { stop(): Promise<void> } {
  const own = new OwnConnection(options);
  void readWhileQuiet(options, own)
    // A store that is down, a damaged table: whoever asks will be told.
    .catch(() => undefined)
    .then(() => own.close());
  return { stop: () => own.close() };
}

async function readWhileQuiet(
  { engine, arrivals, workers, limitMs = furtherMs }: FurtherWarmUpOptions,
  own: OwnConnection,
): Promise<void> {
  const paths = await pathsToRead(engine);
  const givesUpAt = performance.now() + patienceMs;
  const restOfRead = Math.max(workers / readersAtOnce - 1, 0);
  let left = limitMs;
  let restMs = 0;
  let seen = arrivals();
  for (let n = 0; paths.length > 0 && left > 0 && own.isOpen && performance.now() < givesUpAt;) {
    const now = arrivals();
    if (now !== seen) {
      seen = now;
      await delay(quietMs, undefined, { ref: false });
      continue;
    }
    const began = performance.now();
    await own.get(paths[n++ % paths.length] ?? '');
    const took = performance.now() - began;
    left -= took;
    restMs += took * restOfRead;
    if (restMs >= leastRestMs) {
      await delay(restMs, undefined, { ref: false });
      restMs = 0;
    } else await nextTurn();
  }
}

async function readUntil(endsAt: number, engine: Engine, own: OwnConnection): Promise<void> {
  const paths = await pathsToRead(engine);
  for (let n = 0; paths.length > 0 && performance.now() < endsAt; n++)
    await own.get(paths[n % paths.length] ?? '');
}

/** Stats of objects in as many tables as possible. Where nothing was committed, nobody waits to read it. */
async function pathsToRead({ repositories, objects }: Engine): Promise<string[]> {
  const { items } = await repositories.list({ amount: maxRepositories });
  for (const { id: repository, defaultBranch: ref } of items) {
    const paths = await objects.samplePaths({ repository, ref, amount: maxTables });
    if (paths.length === 0) continue;
    const at = `/repositories/${encodeURIComponent(repository)}/refs/${encodeURIComponent(ref)}/objects`;
    return paths.map((path) => `${at}/stat?path=${encodeURIComponent(path)}`);
  }
  return [];
}

/** A connection to the API that begins and ends in this process. */
class OwnConnection {
  readonly #listener: Listener;
  readonly #ours: Duplex;
  #answered: (() => void) | undefined;

  constructor({ engine, auth, installation }: WarmUpOptions) {
    const api = createApi({
      engine: { ...engine, usage: silentUsage(engine.usage) },
      auth: { ...auth, authenticateAtOnce: () => nobody, allowsAtOnce: () => true },
      installation,
    });
    this.#listener = new Listener({
      traces: () => false,
      serve: (request, response) => {
        response.once('close', () => this.#answered?.());
        api(request, response);
      },
    });
    const [ours, theirs] = duplexPair();
    this.#ours = ours.resume();
    ours.on('error', () => {});
    ours.on('close', () => this.#answered?.());
    theirs.on('close', () => ours.destroy());
    // Whatever watches connections counts what they have sent.
    this.#listener.server.emit('connection', Object.assign(theirs, { bytesRead: 0 }));
  }

  get isOpen(): boolean {
    return !this.#ours.destroyed;
  }

  /** Resolves when the answer is complete, or there will be none. */
  get(path: string): Promise<void> {
    return new Promise((resolve) => {
      this.#answered = resolve;
      this.#ours.write(`GET ${basePath}${path} HTTP/1.1\r\nhost: own\r\n\r\n`);
    });
  }

  async close(): Promise<void> {
    this.#ours.destroy();
    this.#answered?.();
    await this.#listener.drain(0);
  }
}
