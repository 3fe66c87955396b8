import type { Writable } from 'node:stream';
import { arn, one } from '@svc/auth';
import type { Auth } from '@svc/auth';
import { EngineError } from '@svc/engine';
import type { ListedObjectCopy, Objects } from '@svc/engine';
import { Answer } from '../../answer/answer.ts';
import type { SentBody } from '../../answer/answer.ts';
import { directoryBytes, ZipStream } from '../../answer/zip-stream.ts';
import type { Call } from '../../call.ts';
import { RequestError } from '../../request/request-error.ts';

/** The directory of an archive is kept in memory until its end. */
const maxDirectoryBytes = 32 * 1024 * 1024;
const pageLength = 1000;

type ListedFile = Extract<ListedObjectCopy, { kind: 'object' }>;

interface Chosen {
  readonly repository: string;
  readonly ref: string;
  readonly prefix: string;
  /** Objects, and folders that end with a slash. */
  readonly paths: readonly string[];
}

type ArchiveCall = Pick<Call, 'identity' | 'client'> & {
  readonly params: { readonly repository: string; readonly ref: string };
  readonly query: { readonly prefix?: string; readonly path?: readonly string[] };
};

/** A folder or chosen entries of it as a zip archive. Everything is looked at before the answer begins. */
export async function archiveAnswer(
  { objects, auth }: { objects: Objects; auth: Auth },
  { params, query, identity, client }: ArchiveCall,
): Promise<Answer> {
  const { prefix = '' } = query;
  const chosen: Chosen = { ...params, prefix, paths: query.path ?? [prefix] };
  for (const path of chosen.paths) {
    if (!path.startsWith(prefix)) throw new RequestError(400, `path "${path}" is not below "${prefix}"`);
  }
  let length = 0;
  let count = 0;
  for await (const { path } of filesOf(objects, chosen)) {
    count += 1;
    length += directoryBytes(path);
    if (length > maxDirectoryBytes) {
      throw new RequestError(
        413,
        'too many objects for one archive: download smaller folders, or use svcctl fs download --recursive',
      );
    }
  }
  if (count === 0) throw new RequestError(404, 'nothing to download here');
  const permissions = await auth.permissionsOf(identity, client);
  const mayRead = (path: string): boolean =>
    permissions.check(one('fs:ReadObject', arn.object(params.repository, path))).allowed;
  const name = fileNameOf(prefix === '' ? params.repository : prefix);
  return new Answer(
    200,
    {
      'content-type': 'application/zip',
      'content-disposition': `attachment; filename="${name.replaceAll(/[^ -!#-[\]-~]/g, '_')}"; filename*=UTF-8''${encodeURIComponent(name)}`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
    new ArchiveBody(objects, chosen, mayRead),
  );
}

async function* filesOf(objects: Objects, { repository, ref, paths }: Chosen): AsyncGenerator<ListedFile> {
  for (const path of paths) {
    const isFolder = path === '' || path.endsWith('/');
    for (let after = ''; ;) {
      const page = await objects.list({
        repository,
        ref,
        prefix: path,
        after,
        amount: isFolder ? pageLength : 1,
      });
      const { hasMore, nextOffset } = page;
      const items = page.toArray();
      page.release();
      for (const item of items) {
        if (item.kind === 'object' && (isFolder || item.path === path)) yield item;
      }
      if (!isFolder || !hasMore) break;
      after = nextOffset;
    }
  }
}

/** Writes one object after the other; of those that may not or cannot be read a list is added. */
class ArchiveBody implements SentBody {
  readonly #objects: Objects;
  readonly #chosen: Chosen;
  readonly #mayRead: (path: string) => boolean;

  constructor(objects: Objects, chosen: Chosen, mayRead: (path: string) => boolean) {
    this.#objects = objects;
    this.#chosen = chosen;
    this.#mayRead = mayRead;
  }

  async sendTo(sink: Writable): Promise<void> {
    const { prefix } = this.#chosen;
    const zip = new ZipStream(sink);
    const refused: string[] = [];
    const gone: string[] = [];
    for await (const file of filesOf(this.#objects, this.#chosen)) {
      if (!this.#mayRead(file.path)) {
        refused.push(file.path);
        continue;
      }
      const body = await this.#open(file);
      if (body === undefined) {
        gone.push(file.path);
        continue;
      }
      const entry = {
        name: entryName(file.path.slice(prefix.length)),
        modified: new Date(file.mtime.seconds * 1000),
        size: file.size,
      };
      await zip.add(entry, body.bytes ?? body.stream());
    }
    const notes = [
      ...(refused.length > 0 ? ['You may not read:', ...refused] : []),
      ...(gone.length > 0 ? ['The data is gone of:', ...gone] : []),
    ];
    if (notes.length > 0) {
      const text = Buffer.from(`${notes.join('\n')}\n`);
      await zip.add({ name: 'NOT-INCLUDED.txt', modified: new Date(), size: text.length }, text);
    }
    await zip.end();
    sink.end();
  }

  /** Undefined when the store has nothing at its address: whoever wants the rest gets it. */
  async #open(file: ListedFile): Promise<Awaited<ReturnType<Objects['openEntry']>> | undefined> {
    try {
      return await this.#objects.openEntry(this.#chosen.repository, file);
    } catch (error) {
      if (error instanceof EngineError && (error.kind === 'data_gone' || error.kind === 'not_found')) {
        return undefined;
      }
      throw error;
    }
  }
}

/** A path that stays in the folder where the archive is unpacked. */
export function entryName(path: string): string {
  const parts = path.replaceAll('\\', '/').split('/');
  return parts
    .map((part, index) =>
      part === '.' || part === '..' || (part === '' && index < parts.length - 1) ? '_' : part,
    )
    .join('/');
}

function fileNameOf(folder: string): string {
  const name = folder.split('/').findLast((part) => part !== '') ?? 'archive';
  return `${name.replaceAll(/[\p{Cc}"\\:*?<>|]/gu, '_')}.zip`;
}
