import type { ServerAddress, StartStep } from './messages.ts';

/** How far a process has come. What it will never reach is rejected with the reason. */
export class StartSteps {
  readonly #reached: Readonly<Record<StartStep, PromiseWithResolvers<void>>> = {
    prepared: Promise.withResolvers(),
    opened: Promise.withResolvers(),
  };
  readonly #ready: PromiseWithResolvers<ServerAddress | undefined> = Promise.withResolvers();

  constructor() {
    // Whoever waits for a step is told; perhaps nobody does.
    for (const { promise } of [...Object.values(this.#reached), this.#ready]) promise.catch(() => {});
  }

  get prepared(): Promise<void> {
    return this.#reached.prepared.promise;
  }

  get opened(): Promise<void> {
    return this.#reached.opened.promise;
  }

  /** Where it listens, if it does. */
  get ready(): Promise<ServerAddress | undefined> {
    return this.#ready.promise;
  }

  reach(step: StartStep): void {
    this.#reached[step].resolve();
  }

  beReady(address: ServerAddress | undefined): void {
    this.#ready.resolve(address);
  }

  fail(error: Error): void {
    for (const { reject } of [...Object.values(this.#reached), this.#ready]) reject(error);
  }
}
