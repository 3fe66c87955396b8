import { BlockError } from '@svc/block';
import { EngineError, type Engine, type Repository } from '@svc/engine';
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
}

/** Reads the action files of a ref. What a commit holds is remembered; a branch is read each time. */
export class ActionLoader {
  readonly #source: () => FileSource;
  readonly #ofCommits = new LRUCache<string, readonly Action[]>({ max: 1000 });

  constructor(source: () => FileSource) {
    this.#source = source;
  }

  /** Throws `AbortedEvent` when a file is not a valid action. Errors of the stores pass as they are. */
  async load(at: ActionsAt): Promise<readonly Action[]> {
    const key = commitId.test(at.ref) ? `${at.repository.instanceUid}/${at.ref}` : undefined;
    const known = key === undefined ? undefined : this.#ofCommits.get(key);
    if (known !== undefined) return known;
    const paths = await this.#paths(at);
    const actions = paths.length === 0 ? none : await this.#parseAll(at, paths);
    if (key !== undefined) this.#ofCommits.set(key, actions);
    return actions;
  }

  async hasFiles(at: ActionsAt): Promise<boolean> {
    return (await this.#paths(at)).length > 0;
  }

  async #paths(at: ActionsAt): Promise<string[]> {
    const listed = await Promise.all(actionFolders.map((folder) => this.#list(at, folder)));
    return countingFiles(listed.flat());
  }

  async #list({ repository, ref }: ActionsAt, folder: string): Promise<string[]> {
    const { objects } = this.#source();
    const paths: string[] = [];
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
        if (item.kind === 'object' && item.path !== folder) paths.push(item.path);
      });
      const { hasMore, nextOffset } = page;
      page.release();
      if (!hasMore) return paths;
      after = nextOffset;
    }
  }

  async #parseAll(at: ActionsAt, paths: readonly string[]): Promise<readonly Action[]> {
    const read = await Promise.all(paths.map((path) => this.#parse(at, path)));
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
  async #parse(at: ActionsAt, path: string): Promise<Action | string> {
    // Most processes never see an action file, and the parser is large.
    const { ActionFileError, parseAction } = await import('../file/index.ts');
    try {
      return parseAction((await this.#read(at, path)).toString('utf8'));
    } catch (error) {
      if (error instanceof ActionFileError) return `parsing file ${path}: ${error.message}`;
      if (isGone(error) || error instanceof FileTooLarge)
        return `loading file ${path}: ${(error as Error).message}`;
      throw error;
    }
  }

  async #read({ repository, ref }: ActionsAt, path: string): Promise<Buffer> {
    const { body } = await this.#source().objects.open({ repository: repository.id, ref, path });
    if (body.size > maxFileBytes) {
      body.dispose();
      throw new FileTooLarge('larger than 1 MiB');
    }
    if (body.bytes !== undefined) return body.bytes;
    const chunks: Buffer[] = [];
    for await (const chunk of body.stream()) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }
}

const none: readonly Action[] = [];

class FileTooLarge extends Error {
  override readonly name = 'FileTooLarge';
}

function isGone(error: unknown): boolean {
  if (error instanceof EngineError) return error.kind === 'not_found' || error.kind === 'data_gone';
  return error instanceof BlockError && error.kind === 'not_found';
}
