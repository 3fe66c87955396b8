import type { Worker } from 'node:cluster';
import type { Readable } from 'node:stream';
import { deriveRootKey } from '@svc/auth/root-key';
import type { Config, LogLevel } from '../config/index.ts';
import type { LogSink, Logger } from '../logging/index.ts';
import { parseListenAddress } from '../http/address.ts';
import { BackOff } from './back-off.ts';
import { ExchangeHub } from './exchange-hub.ts';
import type { Member } from './exchange-hub.ts';
import { forwardLines, logDescriptor } from './log-pipe.ts';
import type { Role, ServerAddress, StartMessage, ToPrimary, ToWorker } from './messages.ts';
import { ensurePortIsFree } from './port-check.ts';
import { probableCause } from './start-error.ts';
import { StartSteps } from './start-steps.ts';
import type { WorkerProcesses } from './worker-processes.ts';

interface SupervisorOptions {
  readonly processes: WorkerProcesses;
  readonly config: Config;
  readonly workers: number;
  /** Stores in memory cannot be shared, so background work stays in the only worker. */
  readonly oneProcess: boolean;
  readonly allowMismatchedRepositories: boolean;
  readonly trial: boolean;
  readonly logger: Logger;
  readonly logSink: LogSink;
}

interface Child {
  readonly worker: Worker;
  readonly member: Member;
  readonly role: Role;
  readonly startedAt: number;
  readonly steps: StartSteps;
  /** Its last metrics, kept when it dies. */
  metrics: unknown;
}

/** How long a silent worker may hold up the others; its caches end by themselves soon after. */
const patienceMs = 5000;

/** How long the first worker waits for the others before it serves alone. */
const togetherMs = 1000;

/** Those who waited for the server come all at once, and it would take a core from them. */
const backgroundAfterMs = 1000;

/** The primary process: starts the others, starts them again, and stops them all. It does no work itself. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #hub: ExchangeHub;
  readonly #children = new Map<number, Child>();
  readonly #backOffs: Record<Role, BackOff> = { http: new BackOff(), background: new BackOff() };
  readonly #departedMetrics: unknown[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #rootKey: Promise<Buffer>;
  readonly #configured: ServerAddress;
  /** Where all workers listen, once the first one does. */
  #address: ServerAddress | undefined;
  #isServing = false;
  /** As changed while running; a worker that starts later must know. */
  #level: LogLevel;
  /** Of the background process, until it is started. */
  #background: NodeJS.Timeout | undefined;
  #stopping: Promise<void> | undefined;
  #whenEmpty: (() => void) | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#hub = new ExchangeHub({
      patienceMs,
      onSilence: (question, silent) =>
        options.logger.warn({ question, silent }, 'a worker process did not answer in time'),
    });
    this.#rootKey = deriveRootKey(options.config.auth.encrypt.secret_key);
    // Reported by `start`, which waits for it.
    this.#rootKey.catch(() => {});
    this.#hub.addLegacy('metrics', () => this.#departedMetrics);
    this.#configured = parseListenAddress(options.config.listen_address);
    this.#level = options.config.logging.level;
  }

  /**
   * Starts everything; resolves once requests are served, or with nothing when it was told to stop before that.
   * Rejects with the sentence of what went wrong.
   */
  async start(): Promise<ServerAddress | undefined> {
    await ensurePortIsFree(this.#configured);
    if (this.#isStopping()) return undefined;
    const first = this.#start('http', true);
    this.#rootKey.catch((error: Error) => first.steps.fail(error));
    try {
      return await this.#startTogether(first);
    } catch (error) {
      if (this.#isStopping()) return undefined;
      throw error;
    }
  }

  /**
   * The others load their code while the first worker opens the key-value store, and open it when that says that it can
   * be used. Nobody is answered before all of them listen: connections are kept for long, and those of whoever finds only
   * one worker would all be that one's.
   */
  async #startTogether(first: Child): Promise<ServerAddress> {
    const { workers, oneProcess, processes } = this.#options;
    for (let n = 1; n < workers; n++) processes.startSpare();
    await first.steps.prepared;
    // Nobody would end those that start now.
    if (this.#isStopping()) throw new Error('the server is stopping');
    const others = Array.from({ length: workers - 1 }, () => this.#start('http'));
    await first.steps.opened;
    await settledWithin(
      togetherMs,
      others.map(({ steps }) => steps.opened),
    );
    // A port of the system's choice is known when the first worker has it.
    if (this.#configured.port === 0) first.member.send({ type: 'listen', address: this.#configured });
    const chosen = this.#configured.port === 0 ? await first.steps.ready : undefined;
    const address = chosen ?? this.#configured;
    this.#address = address;
    this.#tell({ type: 'listen', address });
    await first.steps.ready;
    await settledWithin(
      togetherMs,
      others.map(({ steps }) => steps.ready),
    );
    this.#isServing = true;
    this.#tell({ type: 'serve' });
    if (this.#isStopping()) throw new Error('the server is stopping');
    if (!oneProcess) this.#background = setTimeout(() => this.#startBackground(), backgroundAfterMs);
    return address;
  }

  /** Once, when its time has come or a worker has something for it. */
  #startBackground(): void {
    if (this.#background === undefined || this.#isStopping()) return;
    clearTimeout(this.#background);
    this.#background = undefined;
    this.#start('background');
  }

  #start(role: Role, first = false): Child {
    const worker = this.#options.processes.start(role);
    const member: Member = {
      role,
      send(message) {
        if (worker.isConnected()) worker.send(message, undefined, undefined, () => {});
      },
    };
    const steps = new StartSteps();
    const child: Child = { worker, member, role, startedAt: performance.now(), steps, metrics: undefined };
    this.#children.set(worker.id, child);
    this.#hub.join(member);
    worker.on('message', (message: ToPrimary) => this.#receive(child, message));
    worker.on('error', (error) => this.#options.logger.error({ error, role }, 'worker process failed'));
    worker.once('exit', (code: number, signal: string | null) => {
      const [how, cause] = [signal ?? `status ${code}`, probableCause(signal, this.#options.config)];
      steps.fail(new Error(`the first worker process ended while starting (${how})${cause}`));
      this.#ended(child, first, how + cause);
    });
    const pipe = worker.process.stdio[logDescriptor];
    if (pipe !== undefined && pipe !== null) forwardLines(pipe as Readable, this.#options.logSink);
    const { config, workers, oneProcess, allowMismatchedRepositories, trial } = this.#options;
    const message: StartMessage = {
      type: 'start',
      role,
      config: { ...config, logging: { ...config.logging, level: this.#level } },
      workers,
      prepares: first,
      worksAlone: oneProcess,
      allowMismatchedRepositories,
      trial,
    };
    member.send(message);
    if (this.#address !== undefined) member.send({ type: 'listen', address: this.#address });
    if (this.#isServing) member.send({ type: 'serve' });
    void this.#rootKey.then(
      (key) => member.send({ type: 'root-key', key: key.toString('base64') }),
      () => {},
    );
    return child;
  }

  #receive(child: Child, message: ToPrimary): void {
    switch (message.type) {
      case 'ask':
      case 'answer':
      case 'tell':
        if (message.type === 'tell' && message.to === 'background') this.#startBackground();
        this.#hub.receive(child.member, message);
        break;
      case 'metrics':
        child.metrics = message.snapshot;
        break;
      case 'reached':
        child.steps.reach(message.step);
        break;
      case 'failed':
        child.steps.fail(new Error(message.message));
        this.#options.logger.error(
          { role: child.role, error: message.message },
          'worker process cannot start',
        );
        break;
      case 'ready':
        child.steps.beReady(message.address);
        this.#options.logger.debug(
          { role: child.role, worker_pid: child.worker.process.pid },
          'worker process is ready',
        );
        break;
    }
  }

  #ended(child: Child, first: boolean, how: string): void {
    this.#children.delete(child.worker.id);
    this.#hub.leave(child.member);
    if (child.metrics !== undefined) this.#keepMetrics(child.metrics);
    if (this.#stopping !== undefined) {
      if (this.#children.size === 0) this.#whenEmpty?.();
      return;
    }
    // Until it serves, `start` tells what became of it.
    if (first && !this.#isServing) return;
    const livedMs = performance.now() - child.startedAt;
    const delay = this.#backOffs[child.role].next(livedMs);
    this.#options.logger.error(
      { role: child.role, how, delay_ms: delay },
      'worker process died; starting it again',
    );
    if (delay === 0) this.#start(child.role);
    else {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        this.#start(child.role);
      }, delay);
      this.#timers.add(timer);
    }
  }

  /** Counters must not fall when a worker dies; loaded only then because the primary needs it for nothing else. */
  #keepMetrics(metrics: unknown): void {
    this.#departedMetrics.push(metrics);
    if (this.#departedMetrics.length < 2) return;
    const departed = this.#departedMetrics.splice(0) as object[][];
    void import('../metrics/aggregate.ts')
      .then(({ foldSnapshots }) => foldSnapshots(departed))
      .then((folded) => this.#departedMetrics.push(folded))
      .catch((error: unknown) => this.#options.logger.warn({ error }, 'metrics of ended workers are lost'));
  }

  setLevel(level: LogLevel): void {
    this.#level = level;
    this.#tell({ type: 'level', level });
  }

  reloadTls(): void {
    this.#tell({ type: 'reload-tls' });
  }

  #tell(message: ToWorker): void {
    for (const child of this.#children.values()) child.member.send(message);
  }

  /** Asked again after waiting, which may have changed it. */
  #isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  /** Lets every process finish: first those that serve requests, then the background work. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  async #stopAll(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    clearTimeout(this.#background);
    for (const role of ['http', 'background'] as const) {
      const ending = [...this.#children.values()].filter((child) => child.role === role);
      const exits = ending.map(
        (child) => new Promise<void>((resolve) => child.worker.once('exit', () => resolve())),
      );
      for (const child of ending) child.member.send({ type: 'stop' });
      await Promise.all(exits);
    }
    if (this.#children.size > 0) {
      await new Promise<void>((resolve) => {
        this.#whenEmpty = resolve;
      });
    }
  }

  killAll(): void {
    this.#stopping ??= Promise.resolve();
    for (const child of this.#children.values()) child.worker.process.kill('SIGKILL');
  }

  /** Process ids of the HTTP workers. */
  get workerPids(): number[] {
    return [...this.#children.values()]
      .filter((child) => child.role === 'http')
      .flatMap((child) => child.worker.process.pid ?? []);
  }
}

/** Waits until each is settled, whatever the outcome, but no longer than this. */
async function settledWithin(limitMs: number, promises: readonly Promise<unknown>[]): Promise<void> {
  const { promise: isOver, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, limitMs);
  await Promise.race([Promise.allSettled(promises), isOver]);
  clearTimeout(timer);
}
