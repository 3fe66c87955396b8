import { duplexPair, type Duplex } from 'node:stream';
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
    this.#listener.server.emit('connection', theirs);
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
