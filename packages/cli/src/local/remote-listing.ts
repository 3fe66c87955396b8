import type { Calls, ObjectStats } from '@svc/client';
import { maxPage } from '../pagination.ts';
import type { FileRules, RemoteEntry } from './entry.ts';
import type { IgnoreRules } from './ignore.ts';

/** URLs are signed when they are soon used; some stores sign each with a call of their own. */
const signedPage = 250;

export interface RemoteFolder {
  readonly client: Calls;
  readonly repository: string;
  readonly ref: string;
  /** Empty, or ends in `/`. */
  readonly prefix: string;
  /** With URLs to read the objects from. */
  readonly presign?: boolean | undefined;
}

/** What can be a file of the folder, in byte order, with names relative to the prefix. */
export async function* listFolder(
  folder: RemoteFolder,
  rules: FileRules,
  ignored: IgnoreRules,
  warn: (text: string) => void,
): AsyncGenerator<RemoteEntry> {
  let warned = false;
  for await (const stats of listObjects(folder)) {
    const path = stats.path.slice(folder.prefix.length);
    if (path === '') continue;
    if (path.endsWith('/')) {
      if ((stats.size_bytes ?? 0) > 0) {
        if (!warned)
          warn(`objects with data whose key ends in "/" cannot be files and are left out: ${stats.path}`);
        warned = true;
        continue;
      }
      if (!rules.posix) continue;
    }
    if (ignored.ignores(path)) continue;
    yield { path, stats };
  }
}

/** The objects of a folder. The next page is on its way while one is used. */
export async function* listObjects(folder: RemoteFolder): AsyncGenerator<ObjectStats> {
  const { client, repository, ref, prefix, presign } = folder;
  const fetchPage = (after: string) =>
    client.get('/repositories/{repository}/refs/{ref}/objects/ls', {
      params: {
        path: { repository, ref },
        query: {
          prefix,
          after,
          amount: presign === true ? signedPage : maxPage,
          user_metadata: true,
          ...(presign === true && { presign }),
        },
      },
    });
  for (let page = fetchPage(''); ;) {
    const { pagination, results } = await page;
    if (!pagination.has_more) {
      yield* results;
      return;
    }
    page = fetchPage(pagination.next_offset);
    // Whoever comes to it is told of a failure.
    page.catch(() => undefined);
    yield* results;
  }
}
