import { readdirSync, statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { WalkedObject, WalkOptions } from '../../adapter.ts';
import { requireStorageUri } from '../../address.ts';
import { BlockError, type BlockErrorKind } from '../../errors.ts';
import { notFound } from './errors.ts';
import type { LocalPaths } from './paths.ts';
import { walkFolder } from './walk-folder.ts';
import {
  walkPage,
  type SkippedNames,
  type WalkColumns,
  type WalkMessage,
  type WalkPlan,
  type WalkWorkerData,
} from './walk-protocol.ts';

/** Pages read here before a thread takes over: most walks are short and need none. */
const pagesHere = 1;
/** Pages on their way at once. */
const pagesAhead = 4;

/**
 * Regular files below a folder in the byte order of their full paths. A long walk goes on in a thread, because
 * hashing what it finds would keep requests waiting.
 */
export async function* walkFiles(
  paths: LocalPaths,
  uri: string,
  options: WalkOptions & { readonly hidden: boolean; readonly onSkipped: (skipped: SkippedNames) => void },
): AsyncGenerator<WalkedObject[]> {
  const skipped: SkippedNames = { count: 0, example: '' };
  try {
    yield* walkPages(paths, uri, options, skipped);
  } finally {
    if (skipped.count > 0) options.onSkipped(skipped);
  }
}

async function* walkPages(
  paths: LocalPaths,
  uri: string,
  options: WalkOptions & { readonly hidden: boolean },
  skipped: SkippedNames,
): AsyncGenerator<WalkedObject[]> {
  const plan = planOf(paths, uri, options);
  const relativeFrom = plan.folder.length + 1;
  let pages = 0;
  let last: string | undefined;
  for (const page of walkFolder(plan, skipped)) {
    options.signal?.throwIfAborted();
    yield toObjects(page, relativeFrom);
    // Only the last page is not full: then there is nothing to go on with.
    if (page.paths.length < walkPage) return;
    last = page.paths.at(-1);
    pages += 1;
    if (pages >= pagesHere) break;
    await nextTurn();
  }
  if (last === undefined) return;
  for await (const page of walkInThread({ ...plan, after: last }, options.signal, skipped)) {
    yield toObjects(page, relativeFrom);
  }
}

function planOf(
  paths: LocalPaths,
  uri: string,
  options: WalkOptions & { readonly hidden: boolean },
): WalkPlan {
  return {
    ...paths.locateWalk(uri),
    after: options.after === undefined ? undefined : afterPath(options.after),
    hidden: options.hidden,
    skipEtag: options.skipEtag === true,
    reserved: paths.reserved,
  };
}

/** What an import of `uri` walks: a folder counts as if it ended in `/`, and what is not there is an error. */
export function importSource(paths: LocalPaths, uri: string): string {
  const { folder, prefix } = paths.locateWalk(uri);
  const isFolder = (path: string): boolean =>
    statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (prefix !== '' && isFolder(`${folder}/${prefix}`)) {
    paths.verify(`${folder}/${prefix}/x`, 'read');
    return `${uri}/`;
  }
  const matches = isFolder(folder) && readdirSync(folder).some((name) => name.startsWith(prefix));
  if (!matches && (prefix !== '' || !isFolder(folder))) throw notFound(`${folder}/${prefix}`);
  return uri;
}

function afterPath(after: string): string {
  const uri = requireStorageUri('local', after, 'invalid_address');
  if (uri.host !== '') {
    throw new BlockError(
      'invalid_address',
      `the walk cannot continue after "${after}": expected local:// and an absolute path`,
    );
  }
  return uri.path;
}

function toObjects(page: WalkColumns, relativeFrom: number): WalkedObject[] {
  return page.paths.map((path, index) => ({
    uri: `local://${path}`,
    relativeKey: path.slice(relativeFrom),
    etag: page.etags[index] ?? '',
    size: page.sizes[index] ?? 0,
    lastModified: new Date(page.modified[index] ?? 0),
  }));
}

async function* walkInThread(
  plan: WalkPlan,
  signal: AbortSignal | undefined,
  skipped: SkippedNames,
): AsyncGenerator<WalkColumns> {
  const credits = new Int32Array(new SharedArrayBuffer(4));
  credits[0] = pagesAhead;
  const worker = new Worker(workerEntry(), { workerData: { plan, credits } satisfies WalkWorkerData });
  const queue: WalkMessage[] = [];
  let wake: (() => void) | undefined;
  const put = (message: WalkMessage): void => {
    queue.push(message);
    wake?.();
  };
  worker.on('message', put);
  worker.on('error', (error) => put({ kind: 'failed', error }));
  const abort = (): void => put({ kind: 'failed', error: signal?.reason });
  signal?.addEventListener('abort', abort, { once: true });
  try {
    for (;;) {
      const message = queue.shift();
      if (message === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      if (message.kind === 'end') {
        skipped.count += message.skipped.count;
        if (message.skipped.count > 0) skipped.example = message.skipped.example;
        return;
      }
      if (message.kind === 'failed') throw restored(message.error);
      yield message.page;
      Atomics.add(credits, 0, 1);
      Atomics.notify(credits, 0);
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    await worker.terminate();
  }
}

/** Errors lose their class between threads. */
function restored(error: unknown): unknown {
  const fields = error as { kind?: BlockErrorKind; message?: string } | null;
  if (error instanceof Error || fields?.kind === undefined) return error;
  return new BlockError(fields.kind, fields.message ?? 'the walk failed');
}

/** Running from sources the entry is a .ts file; the bundle puts it beside itself. */
function workerEntry(): URL {
  const name = import.meta.url.endsWith('.ts') ? './walk-worker.ts' : './walk-worker.js';
  return new URL(name, import.meta.url);
}
