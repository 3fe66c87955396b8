import { randomUUID } from 'node:crypto';
import { renameSync, rmdirSync } from 'node:fs';
import { mkdir, readdir, rm, stat, unlink, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Told what happens to the files of the cache folder. */
export interface CacheObserver {
  found(kind: 'range' | 'metarange'): void;
  missed(kind: 'range' | 'metarange'): void;
  downloaded(kind: 'range' | 'metarange', bytes: number): void;
  evicted(kind: 'range' | 'metarange', bytes: number): void;
  failed(kind: 'range' | 'metarange', what: 'download' | 'eviction'): void;
}

export interface LocalCacheOptions {
  readonly kind: 'range' | 'metarange';
  readonly folder: string;
  readonly capacity: number;
  /** Only one process of a server evicts; the folder is shared by all of them. */
  readonly evict: boolean;
  /** Closes an idle reader of the file; false when it is being read. */
  readonly letGo: (path: string) => boolean;
  readonly observer?: CacheObserver | undefined;
}

interface CachedFile {
  readonly size: number;
  /** Uses, halved now and then: what is used often outlives what was used last. */
  uses: number;
}

const workspaceName = 'workspace';
const temporaryPattern = /(?:^|\.)(\d+)-[0-9a-f-]{36}(?:\.tmp)?$/;
const rescanInterval = 60_000;
const abandonedAfter = 3_600_000;
/** Of this many least recently used files the least used goes. */
const sample = 8;
const agingInterval = 10_000;

/** Files of one kind of table on local disk. Files are immutable and appear whole, by rename. */
export class LocalCache {
  readonly #options: LocalCacheOptions;
  /** Known files, least recently used first; only kept where files are evicted. */
  readonly #files = new Map<string, CachedFile>();
  #size = 0;
  #uses = 0;
  readonly #held = new Map<string, number>();
  readonly #touched = new Map<string, number>();
  readonly #downloads = new Map<string, Promise<void>>();
  /** Files on their way out; one put at the same path meanwhile must wait, or it would go with them. */
  readonly #evictions = new Map<string, Promise<void>>();
  /** Files on their way in: meanwhile no folder goes. */
  #arriving = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LocalCacheOptions) {
    this.#options = options;
  }

  /** Bytes of the files known to be there. */
  get size(): number {
    return this.#size;
  }

  async start(): Promise<void> {
    await mkdir(join(this.#options.folder, workspaceName), { recursive: true });
    if (!this.#options.evict) return;
    await this.#rescan(true);
    // The folder may be unreadable for a moment; the next round looks again.
    this.#timer = setInterval(() => void this.#rescan(false).catch(() => undefined), rescanInterval);
    this.#timer.unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.allSettled(this.#downloads.values());
    await Promise.allSettled(this.#evictions.values());
  }

  temporaryPath(): string {
    return temporaryPath(this.#options.folder);
  }

  /** Moves a finished temporary file into place. */
  async admit(temporary: string, path: string): Promise<void> {
    this.#arriving++;
    try {
      await this.#evictions.get(path);
      await this.#moveIn(temporary, path);
    } finally {
      this.#arriving--;
    }
  }

  async #moveIn(temporary: string, path: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        // A moment's work in a folder that is in memory: a thread-pool hop would take longer.
        renameSync(temporary, path);
        return;
      } catch (error) {
        if (attempt === 5 || !isMissing(error)) {
          await rm(temporary, { force: true });
          throw error;
        }
        // The folder is new, or another process emptied and removed it meanwhile.
        await makeFolder(dirname(path));
      }
    }
  }

  /** Runs `download` into a temporary file and moves it to `path`; once for all who ask at the same time. */
  fetch(path: string, download: (temporary: string) => Promise<void>): Promise<void> {
    const running = this.#downloads.get(path);
    if (running !== undefined) return running;
    this.#options.observer?.missed(this.#options.kind);
    const started = this.#download(path, download).finally(() => this.#downloads.delete(path));
    this.#downloads.set(path, started);
    return started;
  }

  /** Counts a file that was put at `path`, after whoever waited for it has opened it. */
  register(path: string, size: number): void {
    if (!this.#options.evict) return;
    this.#remember(path, size);
    this.#evictSome();
  }

  /** Notes a use, for the choice of what to evict. */
  touch(path: string): void {
    this.#options.observer?.found(this.#options.kind);
    if (!this.#options.evict) {
      this.#touchFile(path);
      return;
    }
    const file = this.#files.get(path);
    if (file === undefined) return;
    file.uses++;
    this.#files.delete(path);
    this.#files.set(path, file);
    if (++this.#uses < agingInterval) return;
    this.#uses = 0;
    for (const each of this.#files.values()) each.uses >>= 1;
  }

  /** Keeps a file until `release`. */
  hold(path: string): void {
    this.#held.set(path, (this.#held.get(path) ?? 0) + 1);
  }

  release(path: string): void {
    const holders = (this.#held.get(path) ?? 1) - 1;
    if (holders > 0) this.#held.set(path, holders);
    else this.#held.delete(path);
  }

  async #download(path: string, download: (temporary: string) => Promise<void>): Promise<void> {
    this.#arriving++;
    try {
      await this.#bring(path, download);
    } finally {
      this.#arriving--;
    }
  }

  async #bring(path: string, download: (temporary: string) => Promise<void>): Promise<void> {
    await makeFolder(dirname(path));
    const temporary = `${path}.${process.pid}-${randomUUID()}.tmp`;
    const { kind, observer } = this.#options;
    try {
      await download(temporary);
      if (observer !== undefined) observer.downloaded(kind, (await stat(temporary)).size);
    } catch (error) {
      observer?.failed(kind, 'download');
      await rm(temporary, { force: true });
      throw error;
    }
    await this.admit(temporary, path);
  }

  /** The evicting process learns by the file's time that another one uses it. */
  #touchFile(path: string): void {
    const now = Date.now();
    const last = this.#touched.get(path) ?? 0;
    if (now - last < rescanInterval / 2) return;
    if (this.#touched.size > 10_000) this.#touched.clear();
    this.#touched.set(path, now);
    // It may be evicted already; then its time does not matter.
    utimes(path, now / 1000, now / 1000).catch(() => undefined);
  }

  #remember(path: string, size: number): void {
    const known = this.#files.get(path);
    if (known !== undefined) this.#size -= known.size;
    this.#files.delete(path);
    this.#files.set(path, { size, uses: (known?.uses ?? 0) + 1 });
    this.#size += size;
  }

  #forget(path: string): void {
    const known = this.#files.get(path);
    if (known === undefined) return;
    this.#files.delete(path);
    this.#size -= known.size;
  }

  #evictSome(): void {
    for (let left = this.#files.size; left > 0 && this.#size > this.#options.capacity; left--) {
      const victim = this.#chooseVictim();
      if (victim === undefined) return;
      this.#options.observer?.evicted(this.#options.kind, this.#files.get(victim)?.size ?? 0);
      this.#forget(victim);
      const eviction = this.#remove(victim).finally(() => this.#evictions.delete(victim));
      this.#evictions.set(victim, eviction);
    }
  }

  #chooseVictim(): string | undefined {
    let victim: string | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    let seen = 0;
    for (const [path, file] of this.#files) {
      if (this.#held.has(path) || !this.#options.letGo(path)) continue;
      if (file.uses < fewest) {
        victim = path;
        fewest = file.uses;
      }
      if (++seen === sample) break;
    }
    return victim;
  }

  async #remove(path: string): Promise<void> {
    await unlink(path).catch((error: unknown) => {
      if (!isMissing(error)) this.#options.observer?.failed(this.#options.kind, 'eviction');
    });
    const workspace = join(this.#options.folder, workspaceName);
    for (let folder = dirname(path); folder.length > this.#options.folder.length; folder = dirname(folder)) {
      // A namespace may have the same name; the workspace itself must stay, new tables need it.
      if (folder === workspace) return;
      if (this.#arriving > 0) return;
      try {
        rmdirSync(folder);
      } catch {
        return;
      }
    }
  }

  /** Registers every file there by size and last use, and clears what dead processes left half written. */
  async #rescan(starting: boolean): Promise<void> {
    const found: { path: string; size: number; time: number }[] = [];
    for (const entry of await readdir(this.#options.folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      // It may have gone since the folder was read.
      const about = await stat(path).catch(() => undefined);
      if (about === undefined) continue;
      const owner = temporaryPattern.exec(basename(path))?.[1];
      if (owner === undefined) found.push({ path, size: about.size, time: about.mtimeMs });
      else if (isAbandoned(Number(owner), about.mtimeMs, starting)) await rm(path, { force: true });
    }
    const present = new Set(found.map(({ path }) => path));
    for (const path of this.#files.keys()) if (!present.has(path)) this.#forget(path);
    found.sort((a, b) => a.time - b.time);
    for (const { path, size } of found) if (!this.#files.has(path)) this.#remember(path, size);
    this.#evictSome();
  }
}

/** A new name in the workspace of a cache folder; the process id tells later who left it. */
export function temporaryPath(folder: string): string {
  return join(folder, workspaceName, `${process.pid}-${randomUUID()}`);
}

/** Making a path fails when another process removes a part of it that is still empty. */
async function makeFolder(folder: string): Promise<void> {
  await retryMissing(async () => void (await mkdir(folder, { recursive: true })));
}

function isAbandoned(owner: number, modified: number, starting: boolean): boolean {
  if (Date.now() - modified > abandonedAfter) return true;
  // This process has written nothing yet when it starts: the id was an earlier one's.
  if (owner === process.pid) return starting;
  try {
    process.kill(owner, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
}

/** Tries again when a file vanished between being fetched and being opened: another process may have evicted it. */
export async function retryMissing<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let left = 5; ; left--) {
    try {
      return await attempt();
    } catch (error) {
      if (left === 0 || !isMissing(error)) throw error;
    }
  }
}
