/**
 * Tells the other worker processes of one server that something they may have cached has changed. `publish`
 * resolves once every living worker has dropped its copy, so a caller that awaits it before answering makes the
 * change effective for the next request on any worker. Other servers notice within their cache lifetime.
 */
export interface CacheBus {
  publish(topic: string, key: string): Promise<void>;
  /** The listener must drop its copy synchronously. Returns the function that ends the subscription. */
  subscribe(topic: string, listener: (key: string) => void): () => void;
}

/** The bus of a server with a single process. */
export class LocalCacheBus implements CacheBus {
  readonly #listeners = new Map<string, Set<(key: string) => void>>();

  publish(topic: string, key: string): Promise<void> {
    this.deliver(topic, key);
    return Promise.resolve();
  }

  subscribe(topic: string, listener: (key: string) => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }

  deliver(topic: string, key: string): void {
    for (const listener of this.#listeners.get(topic) ?? []) listener(key);
  }
}
