import { setTimeout as pause } from 'node:timers/promises';
import { quickstartAuth } from '../start-server.ts';

const repository = 'fleet';
/** Nobody writes to it, so a merge into it is never refused for uncommitted changes. */
const mergedBranch = 'merged';
const mostMs = 30_000;
const fewWriters = 4;

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** People at work on a fleet, and what it has promised them. */
export class Workload {
  readonly #url: string;
  readonly #stop = new AbortController();
  readonly #people: Promise<void>[] = [];
  /** Objects whose upload was acknowledged. */
  readonly written = new Set<string>();
  readonly committed = new Set<string>();
  /** The folders of two objects whose merge was acknowledged. */
  readonly merged = new Set<string>();
  readonly wrongs: string[] = [];
  longestMs = 0;
  /** Requests that ended without an answer, or with one that asks to come back. */
  failures = 0;

  constructor(url: string) {
    this.#url = url;
  }

  async begin(namespace: string, writers = fewWriters): Promise<void> {
    const made = await this.ask('POST', '', { name: repository, storage_namespace: namespace });
    if (made?.status !== 201) throw new Error(`no repository: ${made?.status} ${made?.text}`);
    const target = await this.ask('POST', '/branches', { name: mergedBranch, source: 'main' });
    if (target?.status !== 201) throw new Error(`no branch: ${target?.status} ${target?.text}`);
    for (let writer = 0; writer < writers; writer += 1) this.#go((turn) => this.#write(`w${writer}/${turn}`));
    this.#go((turn) => this.#commit(turn));
    for (const merger of ['m0', 'm1']) this.#go((turn) => this.#merge(`${merger}-${turn}`));
    this.#go((turn) => this.#watch(turn));
  }

  #go(work: (turn: number) => Promise<void>): void {
    const run = async (): Promise<void> => {
      for (let turn = 0; !this.#stop.signal.aborted; turn += 1) await work(turn);
    };
    this.#people.push(run());
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#people);
  }

  /** Undefined when there was no answer. Statuses of 500 and more say nothing about what happened. */
  async ask(
    method: string,
    path: string,
    body?: object | string,
    base: string = this.#url,
  ): Promise<Answer | undefined> {
    const began = performance.now();
    try {
      const response = await fetch(
        `${base}/api/v1/repositories${path === '' ? '' : `/${repository}${path}`}`,
        {
          method,
          headers: {
            authorization: quickstartAuth,
            connection: 'close',
            ...(body !== undefined && {
              'content-type': typeof body === 'string' ? 'application/octet-stream' : 'application/json',
            }),
          },
          ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
          signal: AbortSignal.timeout(2 * mostMs),
        },
      );
      const text = await response.text();
      if (response.status < 500) return { status: response.status, text };
      if (response.status === 500) this.wrongs.push(`${method} ${path}: 500 ${text}`);
    } catch {
      // Its server is gone.
    } finally {
      const took = performance.now() - began;
      this.longestMs = Math.max(this.longestMs, took);
      if (took > mostMs) this.wrongs.push(`${method} ${path} took ${Math.round(took)} ms`);
    }
    this.failures += 1;
    await pause(50);
    return undefined;
  }

  async #write(path: string): Promise<void> {
    const answer = await this.ask('POST', `/branches/main/objects?path=${path}`, path);
    if (answer === undefined) return;
    if (answer.status !== 201) {
      this.wrongs.push(`${path}: ${answer.status} ${answer.text}`);
      return;
    }
    this.written.add(path);
    // Whichever server is next has to know it.
    const seen = await this.ask('GET', `/refs/main/objects?path=${path}`);
    if (seen !== undefined && (seen.status !== 200 || seen.text !== path)) {
      this.wrongs.push(`${path} was written and then read as ${seen.status} ${seen.text}`);
    }
  }

  async #commit(turn: number): Promise<void> {
    await pause(200);
    const answer = await this.ask('POST', '/branches/main/commits', { message: `commit ${turn}` });
    if (answer?.status === 201) this.committed.add((JSON.parse(answer.text) as { id: string }).id);
    // Nothing to commit, or somebody else was first.
    else if (answer !== undefined && ![400, 409, 412].includes(answer.status)) {
      this.wrongs.push(`commit: ${answer.status} ${answer.text}`);
    }
  }

  /** Two people merge into one branch, through whichever servers. */
  async #merge(pair: string): Promise<void> {
    await pause(200);
    const branch = `side-${pair}`;
    const made = await this.ask('POST', '/branches', { name: branch, source: 'main' });
    if (made?.status !== 201) return;
    for (const name of ['a', 'b']) {
      const path = `pair/${pair}/${name}`;
      const put = await this.ask('POST', `/branches/${branch}/objects?path=${path}`, path);
      if (put?.status !== 201) return;
    }
    const committed = await this.ask('POST', `/branches/${branch}/commits`, { message: branch });
    if (committed?.status !== 201) return;
    for (let attempt = 0; attempt < 20 && !this.#stop.signal.aborted; attempt += 1) {
      const answer = await this.ask('POST', `/refs/${branch}/merge/${mergedBranch}`, {});
      if (answer?.status === 200) {
        this.merged.add(`pair/${pair}`);
        return;
      }
      await pause(50);
    }
  }

  /** A merge is there with both objects or not at all, on whichever server. */
  async #watch(turn: number): Promise<void> {
    await pause(100);
    const answer = await this.ask('GET', `/refs/${mergedBranch}/objects/ls?prefix=pair/&amount=1000`);
    if (answer?.status !== 200) return;
    const { results } = JSON.parse(answer.text) as { results: { path: string }[] };
    for (const [pair, count] of countPairs(results.map(({ path }) => path))) {
      if (count !== 2) this.wrongs.push(`pair ${pair} was seen with ${count} object in look ${turn}`);
    }
  }

  /** What one server does not show of what any of them has promised. */
  async missing(base: string): Promise<string[]> {
    const paths = new Set(await this.#list(base, 'main'));
    const mergedPaths = new Set(await this.#list(base, mergedBranch));
    const log = new Set(await this.#log(base));
    return [
      ...[...this.written].filter((path) => !paths.has(path)),
      ...[...this.merged]
        .flatMap((pair) => [`${pair}/a`, `${pair}/b`])
        .filter((path) => !mergedPaths.has(path)),
      ...[...this.committed].filter((id) => !log.has(id)),
    ];
  }

  async #list(base: string, branch: string): Promise<string[]> {
    return this.#pages(base, `/refs/${branch}/objects/ls?amount=1000`, 'path');
  }

  async #log(base: string): Promise<string[]> {
    return this.#pages(base, '/refs/main/commits?amount=1000', 'id');
  }

  async #pages(base: string, path: string, field: string): Promise<string[]> {
    const found: string[] = [];
    let after = '';
    for (;;) {
      const answer = await this.ask('GET', `${path}&after=${encodeURIComponent(after)}`, undefined, base);
      if (answer?.status !== 200) throw new Error(`${path}: ${answer?.status} ${answer?.text}`);
      const page = JSON.parse(answer.text) as {
        results: Record<string, string>[];
        pagination: { has_more: boolean; next_offset: string };
      };
      found.push(...page.results.map((result) => result[field] ?? ''));
      if (!page.pagination.has_more) return found;
      after = page.pagination.next_offset;
    }
  }
}

function countPairs(paths: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const pair = path.split('/')[1] ?? '';
    counts.set(pair, (counts.get(pair) ?? 0) + 1);
  }
  return counts;
}
