import { expect } from 'vitest';
import type { BlockAdapter, ObjectPointer, WalkedObject } from '../adapter.ts';

export interface BlockFixture {
  readonly adapter: BlockAdapter;
  /** An empty namespace of this run's own, without a trailing slash. */
  readonly namespace: string;
  /** The least size of every part but the last; 1 where the store has no minimum. */
  readonly minPartSize: number;
  /** False where the server itself lets two conditional writes through at once. Default true. */
  readonly atomicIfAbsent?: boolean;
  /** False where the server itself takes parts for uploads it does not know. Default true. */
  readonly refusesUnknownUploads?: boolean;
  /** False where the store replaces a part before it can be asked whether it is accepted. Default true. */
  readonly holdsPartsBack?: boolean;
  /** False where the server says the same time of all uploads. Default true. */
  readonly datesUploads?: boolean;
  /** False where the store would take a backslash for a slash: the adapter refuses such keys. Default true. */
  readonly keepsBackslashes?: boolean;
  /** False where the server ignores the headers that a URL asks it to answer with. Default true. */
  readonly namesDownloads?: boolean;
  readonly close: () => Promise<void>;
}

/** What the cases share: the opened adapter and places that no other test uses. */
export class BlockSuite {
  #fixture: BlockFixture | undefined;
  #folders = 0;

  async open(open: () => Promise<BlockFixture>): Promise<void> {
    this.#fixture = await open();
  }

  async close(): Promise<void> {
    await this.#fixture?.close();
  }

  get fixture(): BlockFixture {
    if (this.#fixture === undefined) throw new Error('the adapter is opened before the first test');
    return this.#fixture;
  }

  get adapter(): BlockAdapter {
    return this.fixture.adapter;
  }

  /** A namespace no other test uses. */
  readonly freshNamespace = (): string => `${this.fixture.namespace}/t${this.#folders++}`;

  readonly at = (identifier: string, storageNamespace = this.freshNamespace()): ObjectPointer => ({
    storageNamespace,
    identifier,
    identifierType: 'relative',
  });

  readonly full = (identifier: string): ObjectPointer => ({
    storageNamespace: this.fixture.namespace,
    identifier,
    identifierType: 'full',
  });

  readonly walkAll = async (uri: string, after?: string): Promise<WalkedObject[]> => {
    const found: WalkedObject[] = [];
    for await (const page of this.adapter.walk(uri, { after })) {
      expect(page.length).toBeGreaterThan(0);
      found.push(...page);
    }
    return found;
  };

  readonly keysUnder = async (namespace: string): Promise<string[]> =>
    (await this.walkAll(`${namespace}/`)).map((object) => object.relativeKey);
}
