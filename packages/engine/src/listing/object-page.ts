import type { PresignedUrl } from '@svc/block';
import type { RecordPlace } from '../committed/tree.ts';
import type {
  ListedObject,
  ListedObjectCopy,
  ObjectPage,
  PageJson,
  PageJsonOptions,
} from '../face/objects.ts';
import { ItemCursor, type PageStorage } from './item-cursor.ts';
import { pageJson } from './page-json.ts';

/** A thousand typical items fit. */
const arenaSize = 256 * 1024;
const maxSpares = 48;
/** Arenas of released pages. Fresh ones for every page would make the collector run several times a second. */
const spares: Buffer[] = [];

/** Copies listed records into one buffer: a page costs a few allocations, however many items it has. */
export class PageBuilder {
  #arena: Buffer = spares.pop() ?? Buffer.allocUnsafeSlow(arenaSize);
  #used = 0;
  /** Per item: end of its key and end of its data (equal for common prefixes). */
  readonly #ends: number[] = [];

  get count(): number {
    return this.#ends.length / 2;
  }

  add(place: RecordPlace): void {
    const { keyBytes, keyLength, dataBytes, dataStart, dataEnd } = place;
    this.#reserve(keyLength + dataEnd - dataStart);
    const arena = this.#arena;
    let at = this.#used;
    // Keys are short: a loop is done before a call to native code has begun.
    if (keyLength > 40) at += keyBytes.copy(arena, at, 0, keyLength);
    else for (let from = 0; from < keyLength; from++) arena[at++] = keyBytes[from] ?? 0;
    this.#used = at + dataBytes.copy(arena, at, dataStart, dataEnd);
    this.#ends.push(at, this.#used);
  }

  addPrefix(prefix: Buffer): void {
    this.#reserve(prefix.length);
    this.#arena.set(prefix, this.#used);
    this.#used += prefix.length;
    this.#ends.push(this.#used, this.#used);
  }

  lastKey(): Buffer {
    const start = this.#ends.at(-3) ?? 0;
    return this.#arena.subarray(start, this.#ends.at(-2) ?? 0);
  }

  build(storage: PageStorage, hasMore: boolean): ListedPage {
    return new ListedPage(
      storage,
      this.#arena.subarray(0, this.#used),
      this.#ends,
      hasMore,
      hasMore ? this.lastKey().toString() : '',
    );
  }

  #reserve(size: number): void {
    if (this.#used + size <= this.#arena.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#arena.length * 2, this.#used + size));
    this.#arena.copy(grown, 0, 0, this.#used);
    this.#arena = grown;
  }
}

export class ListedPage implements ObjectPage {
  readonly hasMore: boolean;
  readonly nextOffset: string;
  readonly #storage: PageStorage;
  #arena: Buffer | undefined;
  readonly #ends: readonly number[];
  #presigned: readonly (PresignedUrl | undefined)[] = [];

  constructor(
    storage: PageStorage,
    arena: Buffer,
    ends: readonly number[],
    hasMore: boolean,
    nextOffset: string,
  ) {
    this.#storage = storage;
    this.#arena = arena;
    this.#ends = ends;
    this.hasMore = hasMore;
    this.nextOffset = nextOffset;
  }

  get count(): number {
    return this.#ends.length / 2;
  }

  visit(visitor: (item: ListedObject) => void): void {
    this.#eachItem(this.#bytes(), visitor);
  }

  json(options: PageJsonOptions): PageJson {
    const bytes = this.#bytes();
    return pageJson(bytes, (visitor) => this.#eachItem(bytes, visitor), options);
  }

  toArray(): ListedObjectCopy[] {
    const items: ListedObjectCopy[] = [];
    this.visit((item) => items.push(item.kind === 'common_prefix' ? copyPrefix(item) : copyObject(item)));
    return items;
  }

  release(): void {
    const { buffer } = this.#arena ?? {};
    this.#arena = undefined;
    if (buffer?.byteLength === arenaSize && spares.length < maxSpares) spares.push(Buffer.from(buffer));
  }

  setPresigned(urls: readonly (PresignedUrl | undefined)[]): void {
    this.#presigned = urls;
  }

  #bytes(): Buffer {
    if (this.#arena === undefined) throw new Error('the page was released');
    return this.#arena;
  }

  #eachItem(bytes: Buffer, visitor: (item: ItemCursor) => void): void {
    const cursor = new ItemCursor(this.#storage);
    let start = 0;
    for (let index = 0; index < this.#ends.length; index += 2) {
      const keyEnd = this.#ends[index] ?? 0;
      const end = this.#ends[index + 1] ?? 0;
      cursor.load(bytes, start, keyEnd, end, this.#presigned[index / 2]);
      visitor(cursor);
      start = end;
    }
  }
}

function copyPrefix(item: ListedObject): ListedObjectCopy {
  return { kind: 'common_prefix', path: item.path };
}

function copyObject(item: ListedObject): ListedObjectCopy {
  return {
    kind: 'object',
    path: item.path,
    physicalAddress: item.physicalAddress,
    address: item.address,
    addressType: item.addressType,
    etag: item.etag,
    size: item.size,
    mtime: item.mtime,
    contentType: item.contentType,
    metadata: item.metadata,
    presigned: item.presigned,
  };
}
