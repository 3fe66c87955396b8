import { BlockError } from '@svc/block';
import { EngineError, type Engine, type ObjectEntry, type Repository } from '@svc/engine';
import { LRUCache } from 'lru-cache';
import type { Action } from '../file/index.ts';
import { actionFolders, countingFiles } from '../file/folders.ts';
import { AbortedEvent, countedErrors } from '../running/aborted-event.ts';

/** Nobody writes longer ones by hand. */
const maxFileBytes = 1024 ** 2;
const pageSize = 1000;
const commitId = /^[0-9a-f]{64}$/;

/** The engine as far as action files are read with it: with the server's own rights. */
export type FileSource = Pick<Engine, 'objects'>;

/** Where action files are read. */
export interface ActionsAt {
  readonly repository: Repository;
  readonly ref: string;
  /** The same text for the same files, where it is known which there are. */
  readonly files?: string | undefined;
}

interface ActionFile {
  readonly path: string;
  /** The same for the same bytes, where that can be said. */
  readonly identity: string | undefined;
}

/** What remembered actions may take together, counted by their files. */
const rememberedBytes = 16 * 1024 ** 2;

/**
 * Reads the action files of a ref. What a commit holds is remembered; a branch is looked at each time, and the files
 * that were seen before are not read again.
 */
export class ActionLoader {
  readonly #source: () => FileSource;
  readonly #remembered = new LRUCache<string, readonly Action[]>({ max: 1000 });
  readonly #ofFiles = new LRUCache<string, Action>({ maxSize: rememberedBytes });

  constructor(source: () => FileSource) {
    this.#source = source;
  }

  /** Throws `AbortedEvent` when a file is not a valid action. Errors of the stores pass as they are. */
  async load(at: ActionsAt): Promise<readonly Action[]> {
    const known = this.remembered(at);
    if (known !== undefined) return known;
    const files = await this.#files(at);
    const actions = files.length === 0 ? none : await this.#parseAll(at, files);
    const key = keyOf(at);
    // A branch may show others by now than those that were named.
    if (key !== undefined && commitId.test(at.ref)) this.#remembered.set(key, actions);
    return actions;
  }

  /** What is known of them without a look; undefined when nothing is. */
  remembered(at: ActionsAt): readonly Action[] | undefined {
    const key = keyOf(at);
    return key === undefined ? undefined : this.#remembered.get(key);
  }

  async hasFiles(at: ActionsAt): Promise<boolean> {
    return (await this.#files(at)).length > 0;
  }

  async #files(at: ActionsAt): Promise<ActionFile[]> {
    const listed = await Promise.all(actionFolders.map((folder) => this.#list(at, folder)));
    const files = new Map(listed.flat().map((file) => [file.path, file]));
    return countingFiles([...files.keys()]).flatMap((path) => files.get(path) ?? []);
  }

  async #list({ repository, ref }: ActionsAt, folder: string): Promise<ActionFile[]> {
    const { objects } = this.#source();
    const files: ActionFile[] = [];
    for (let after = ''; ;) {
      const page = await objects.list({
        repository: repository.id,
        ref,
        prefix: folder,
        delimiter: '/',
        after,
        amount: pageSize,
      });
      // Folders below hold no actions; an object named like the folder itself is a marker of it.
      page.visit((item) => {
        if (item.kind !== 'object' || item.path === folder) return;
        files.push({ path: item.path, identity: identityOf(repository, item) });
      });
      const { hasMore, nextOffset } = page;
      page.release();
      if (!hasMore) return files;
      after = nextOffset;
    }
  }

  async #parseAll(at: ActionsAt, files: readonly ActionFile[]): Promise<readonly Action[]> {
    const read = await Promise.all(files.map((file) => this.#actionOf(at, file)));
    const problems = read.filter((result) => typeof result === 'string');
    if (problems.length > 0) throw new AbortedEvent(countedErrors(problems));
    const actions = read.filter((result) => typeof result !== 'string');
    const names = new Set<string>();
    for (const { name } of actions) {
      if (names.has(name)) throw new AbortedEvent(`action name '${name}' already loaded: invalid action`);
      names.add(name);
    }
    return actions;
  }

  /** The action of a file, or why there is none. */
  async #actionOf(at: ActionsAt, file: ActionFile): Promise<Action | string> {
    const known = file.identity === undefined ? undefined : this.#ofFiles.get(file.identity);
    return known ?? (await this.#parse(at, file));
  }

  async #parse(at: ActionsAt, { path, identity }: ActionFile): Promise<Action | string> {
    // Most processes never see an action file, and the parser is large.
    const { ActionFileError, parseAction } = await import('../file/index.ts');
    try {
      const { bytes, entry } = await this.#read(at, path);
      const action = parseAction(bytes.toString('utf8'));
      // Another file may have taken its place since it was listed.
      if (identity !== undefined && identity === identityOf(at.repository, entry))
        this.#ofFiles.set(identity, action, { size: bytes.length + 1 });
      return action;
    } catch (error) {
      if (error instanceof ActionFileError) return `parsing file ${path}: ${error.message}`;
      if (isGone(error) || error instanceof FileTooLarge)
        return `loading file ${path}: ${(error as Error).message}`;
      throw error;
    }
  }

  async #read({ repository, ref }: ActionsAt, path: string): Promise<{ bytes: Buffer; entry: ObjectEntry }> {
    const { entry, body } = await this.#source().objects.open({ repository: repository.id, ref, path });
    if (body.size > maxFileBytes) {
      body.dispose();
      throw new FileTooLarge('larger than 1 MiB');
    }
    if (body.bytes !== undefined) return { bytes: body.bytes, entry };
    const chunks: Buffer[] = [];
    for await (const chunk of body.stream()) chunks.push(chunk as Buffer);
    return { bytes: Buffer.concat(chunks), entry };
  }
}

/** Undefined for a branch of which nobody said what files it shows. */
function keyOf({ repository, ref, files }: ActionsAt): string | undefined {
  const fixed = files ?? (commitId.test(ref) ? ref : undefined);
  return fixed === undefined ? undefined : `${repository.instanceUid}/${fixed}`;
}

type Identified = Pick<ObjectEntry, 'address' | 'addressType' | 'etag' | 'mtime'>;

/** Undefined for bytes outside the namespace: whoever owns them may change them. */
function identityOf({ instanceUid }: Repository, { address, addressType, etag, mtime }: Identified) {
  if (addressType !== 'relative') return undefined;
  return [instanceUid, address, etag, mtime.seconds, mtime.nanos].join(' ');
}

const none: readonly Action[] = [];

class FileTooLarge extends Error {
  override readonly name = 'FileTooLarge';
}

function isGone(error: unknown): boolean {
  if (error instanceof EngineError) return error.kind === 'not_found' || error.kind === 'data_gone';
  return error instanceof BlockError && error.kind === 'not_found';
}
