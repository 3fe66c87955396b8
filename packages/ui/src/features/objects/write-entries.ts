import { ApiError } from '@svc/client';
import { client } from '../../lib/api.ts';
import type { ListedEntry } from '../../lib/listing.ts';
import type { Transfer } from '../../lib/transfers.ts';

type Entry = Pick<ListedEntry, 'path' | 'path_type'>;

interface Place {
  readonly repository: string;
  readonly branch: string;
}

const pageSize = 1000;
const parallelCopies = 5;

/** The paths of an entry: its own, or those of everything in the folder, a thousand at a time. */
async function* pathsOf(repository: string, ref: string, entry: Entry): AsyncGenerator<string[]> {
  if (entry.path_type === 'object') {
    yield [entry.path];
    return;
  }
  for (let after = ''; ;) {
    const { pagination, results } = await client.get('/repositories/{repository}/refs/{ref}/objects/ls', {
      params: {
        path: { repository, ref },
        query: { prefix: entry.path, after, amount: pageSize, user_metadata: false },
      },
    });
    if (results.length > 0) yield results.map(({ path }) => path);
    if (!pagination.has_more) return;
    after = pagination.next_offset;
  }
}

async function deletePaths({ repository, branch }: Place, paths: string[]): Promise<void> {
  const { errors } = await client.post('/repositories/{repository}/branches/{branch}/objects/delete', {
    params: { path: { repository, branch } },
    body: { paths },
  });
  const [failure] = errors;
  if (failure === undefined) return;
  const { status_code: status, path = '', message } = failure;
  const why = status === 401 ? 'deleting it needs the permission fs:DeleteObject' : message;
  throw new ApiError(status, `${path}: ${why}`, { body: failure });
}

/** Deletes objects and folders; returns the number of deleted objects. */
export async function deleteEntries(place: Place, entries: readonly Entry[]): Promise<number> {
  let deleted = 0;
  const objects = entries.filter(({ path_type }) => path_type === 'object').map(({ path }) => path);
  for (let at = 0; at < objects.length; at += pageSize) {
    const paths = objects.slice(at, at + pageSize);
    await deletePaths(place, paths);
    deleted += paths.length;
  }
  for (const entry of entries) {
    if (entry.path_type === 'object') continue;
    for await (const paths of pathsOf(place.repository, place.branch, entry)) {
      await deletePaths(place, paths);
      deleted += paths.length;
    }
  }
  return deleted;
}

/** Returns entries to what the last commit holds. */
export async function resetEntries({ repository, branch }: Place, entries: readonly Entry[]): Promise<void> {
  for (const { path, path_type } of entries) {
    await client.put('/repositories/{repository}/branches/{branch}', {
      params: { path: { repository, branch } },
      body: { type: path_type === 'object' ? 'object' : 'common_prefix', path },
    });
  }
}

interface TransferOptions {
  readonly repository: string;
  readonly sourceRef: string;
  readonly branch: string;
  readonly transfers: readonly Transfer[];
  /** A move: what was copied is deleted from the branch. */
  readonly removeSource: boolean;
  readonly onProgress: (objects: number) => void;
  readonly signal: AbortSignal;
}

/** Copies objects and folders by their entries, without moving their data; a page is deleted once all of it is copied. */
export async function transferEntries(options: TransferOptions): Promise<number> {
  const { repository, sourceRef, branch, transfers, removeSource, onProgress, signal } = options;
  let done = 0;
  const copyOne = async (path: string, to: string): Promise<void> => {
    await client.post('/repositories/{repository}/branches/{branch}/objects/copy', {
      params: { path: { repository, branch }, query: { dest_path: to } },
      body: { src_path: path, src_ref: sourceRef },
      signal,
    });
    onProgress(++done);
  };
  for (const { entry, to } of transfers) {
    for await (const paths of pathsOf(repository, sourceRef, entry)) {
      const queue = [...paths];
      const work = async (): Promise<void> => {
        for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
          signal.throwIfAborted();
          await copyOne(path, to + path.slice(entry.path.length));
        }
      };
      await Promise.all(Array.from({ length: parallelCopies }, work));
      if (removeSource) await deletePaths({ repository, branch }, paths);
    }
  }
  return done;
}
