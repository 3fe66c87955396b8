import { closeSync, fsync, mkdir, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { isInside } from './paths.ts';

/** Of the folders of objects. */
export const folderMode = 0o750;
const durableLimit = 10_000;

interface Group {
  running: boolean;
  waiting: { readonly resolve: () => void; readonly reject: (error: unknown) => void }[];
}

/**
 * Makes folder entries durable. One sync of a folder serves every writer that had finished its entry when the sync
 * began; those that come meanwhile share the next one.
 */
export class FolderSyncs {
  readonly #enabled: boolean;
  readonly #root: string;
  readonly #groups = new Map<string, Group>();
  /** Folders this process knows to exist with all their parents' entries on disk. */
  readonly #durable = new Set<string>();
  readonly #ensuring = new Map<string, Promise<void>>();

  constructor(root: string, enabled: boolean) {
    this.#root = root;
    this.#enabled = enabled;
  }

  /** Resolves when all entries the folder had at the call are on disk. */
  sync(folder: string): Promise<void> {
    if (!this.#enabled) return Promise.resolve();
    return new Promise((resolve, reject) => {
      let group = this.#groups.get(folder);
      if (group === undefined) {
        group = { running: false, waiting: [] };
        this.#groups.set(folder, group);
      }
      group.waiting.push({ resolve, reject });
      if (!group.running) this.#run(folder, group);
    });
  }

  #run(folder: string, group: Group): void {
    const served = group.waiting;
    group.waiting = [];
    group.running = true;
    const finish = (error: unknown): void => {
      group.running = false;
      if (group.waiting.length > 0) this.#run(folder, group);
      else this.#groups.delete(folder);
      for (const waiter of served) {
        if (error === null) waiter.resolve();
        else waiter.reject(error);
      }
    };
    // Opened and closed without a thread-pool hop: a folder being written to is in memory.
    let fd: number;
    try {
      fd = openSync(folder, 'r');
    } catch (error) {
      finish(error);
      return;
    }
    fsync(fd, (error) => {
      closeSync(fd);
      finish(error);
    });
  }

  isDurable(folder: string): boolean {
    return this.#durable.has(folder);
  }

  /** Creates the folder if needed and makes it and all its parents up to the root durable. */
  async ensure(folder: string): Promise<void> {
    if (this.#durable.has(folder)) return;
    let ensuring = this.#ensuring.get(folder);
    if (ensuring === undefined) {
      ensuring = this.#create(folder).finally(() => this.#ensuring.delete(folder));
      this.#ensuring.set(folder, ensuring);
    }
    await ensuring;
  }

  async #create(folder: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      mkdir(folder, { recursive: true, mode: folderMode }, (error) =>
        error === null ? resolve() : reject(error),
      );
    });
    // Another writer may have created a parent without having synced it yet, so sync all that are not known.
    for (let child = folder; child !== this.#root && isInside(child, this.#root); child = dirname(child)) {
      if (this.#durable.has(child)) break;
      await this.sync(dirname(child));
    }
    if (this.#durable.size >= durableLimit) this.#durable.clear();
    this.#durable.add(folder);
  }

  /** The folder was found missing although it was known. */
  forget(folder: string): void {
    for (let path = folder; isInside(path, this.#root) && path !== this.#root; path = dirname(path)) {
      this.#durable.delete(path);
    }
  }
}
