import type { BlockAdapter, PresignedUrl } from '@svc/block';
import { EntryView, type StringMap, type Timestamp } from '@svc/encoding';
import type { ListedObject, ListedObjectCopy, ObjectPage } from '../face/objects.ts';
import { pointerOf } from '../objects/object-entry.ts';

// Names that no store spells differently in a URI, so that the folder's spelling can be reused.
const plainName = /^[\w,=-][\w.,=-]*$/;

/** Where listed addresses are resolved. */
export interface PageStorage {
  readonly adapter: BlockAdapter;
  readonly storageNamespace: string;
}

/** Copies listed records into one buffer: a page costs a few allocations, however many items it has. */
export class PageBuilder {
  #arena = Buffer.allocUnsafe(64 * 1024);
  #used = 0;
  /** Per item: end of its key and end of its data (equal for common prefixes). */
  readonly #ends: number[] = [];

  get count(): number {
    return this.#ends.length / 2;
  }

  add(key: Buffer, data: Buffer | undefined): void {
    const size = key.length + (data?.length ?? 0);
    if (this.#used + size > this.#arena.length) this.#grow(size);
    this.#arena.set(key, this.#used);
    const keyEnd = this.#used + key.length;
    if (data !== undefined) this.#arena.set(data, keyEnd);
    this.#used += size;
    this.#ends.push(keyEnd, this.#used);
  }

  lastKey(): Buffer {
    const start = this.#ends.at(-3) ?? 0;
    return this.#arena.subarray(start, this.#ends.at(-2) ?? 0);
  }

  build(storage: PageStorage, hasMore: boolean): ListedPage {
    return new ListedPage(
      storage,
      this.#arena,
      this.#ends,
      hasMore,
      hasMore ? this.lastKey().toString() : '',
    );
  }

  #grow(size: number): void {
    const grown = Buffer.allocUnsafe(Math.max(this.#arena.length * 2, this.#used + size));
    this.#arena.copy(grown, 0, 0, this.#used);
    this.#arena = grown;
  }
}

export class ListedPage implements ObjectPage {
  readonly hasMore: boolean;
  readonly nextOffset: string;
  readonly #storage: PageStorage;
  readonly #arena: Buffer;
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
    const cursor = new ItemCursor(this.#storage);
    let start = 0;
    for (let index = 0; index < this.#ends.length; index += 2) {
      const keyEnd = this.#ends[index] ?? 0;
      const end = this.#ends[index + 1] ?? 0;
      cursor.load(this.#arena, start, keyEnd, end, this.#presigned[index / 2]);
      visitor(cursor);
      start = end;
    }
  }

  toArray(): ListedObjectCopy[] {
    const items: ListedObjectCopy[] = [];
    this.visit((item) => items.push(item.kind === 'common_prefix' ? copyPrefix(item) : copyObject(item)));
    return items;
  }

  setPresigned(urls: readonly (PresignedUrl | undefined)[]): void {
    this.#presigned = urls;
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

const typeNames = ['by_prefix', 'relative', 'full'] as const;

/** The one item a visitor looks at; fields are decoded when asked for. */
class ItemCursor implements ListedObject {
  readonly #storage: PageStorage;
  readonly #entry = new EntryView();
  #arena: Buffer = Buffer.alloc(0);
  #start = 0;
  #keyEnd = 0;
  #end = 0;
  #loaded = false;
  /** The last folder of an address and how the store shows it: neighbours mostly share one. */
  #folder = '';
  #shownFolder: string | undefined;
  #folderType = -1;
  presigned: PresignedUrl | undefined;

  constructor(storage: PageStorage) {
    this.#storage = storage;
  }

  load(arena: Buffer, start: number, keyEnd: number, end: number, presigned: PresignedUrl | undefined): void {
    this.#arena = arena;
    this.#start = start;
    this.#keyEnd = keyEnd;
    this.#end = end;
    this.#loaded = false;
    this.presigned = presigned;
  }

  get kind(): 'object' | 'common_prefix' {
    return this.#end === this.#keyEnd ? 'common_prefix' : 'object';
  }

  get bytes(): Buffer {
    return this.#arena;
  }

  get keyStart(): number {
    return this.#start;
  }

  get keyEnd(): number {
    return this.#keyEnd;
  }

  get addressStart(): number {
    return this.#view().addressStart;
  }

  get addressEnd(): number {
    return this.#view().addressEnd;
  }

  get etagStart(): number {
    return this.#view().etagStart;
  }

  get etagEnd(): number {
    return this.#view().etagEnd;
  }

  get contentTypeStart(): number {
    return this.#view().contentTypeStart;
  }

  get contentTypeEnd(): number {
    return this.#view().contentTypeEnd;
  }

  get key(): Buffer {
    return this.#arena.subarray(this.#start, this.#keyEnd);
  }

  get path(): string {
    return this.#arena.toString('utf8', this.#start, this.#keyEnd);
  }

  get address(): string {
    return this.#view().address;
  }

  get addressType(): 'relative' | 'full' | 'by_prefix' {
    return typeNames[this.#view().addressType];
  }

  get physicalAddress(): string {
    const view = this.#view();
    const { address, addressType } = view;
    const slash = address.lastIndexOf('/') + 1;
    const name = address.slice(slash);
    const isPlain = plainName.test(name);
    const sameFolder =
      addressType === this.#folderType && slash === this.#folder.length && address.startsWith(this.#folder);
    if (isPlain && sameFolder && this.#shownFolder !== undefined) return this.#shownFolder + name;
    const { adapter, storageNamespace } = this.#storage;
    const shown = adapter.absoluteUri(pointerOf(storageNamespace, { address, addressType }));
    if (isPlain) {
      this.#folder = address.slice(0, slash);
      this.#folderType = addressType;
      this.#shownFolder = shown.endsWith(`/${name}`) ? shown.slice(0, -name.length) : undefined;
    }
    return shown;
  }

  get etag(): string {
    return this.#view().etag;
  }

  get size(): number {
    return this.#view().size;
  }

  get mtime(): Timestamp {
    return this.#view().lastModified;
  }

  get contentType(): string {
    return this.#view().contentType;
  }

  get metadata(): StringMap {
    return this.#view().metadata;
  }

  #view(): EntryView {
    if (!this.#loaded) {
      this.#entry.load(this.#arena, this.#keyEnd, this.#end);
      this.#loaded = true;
    }
    return this.#entry;
  }
}
