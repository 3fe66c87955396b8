import type { BlockAdapter, PresignedUrl } from '@svc/block';
import { EntryView, type StringMap, type Timestamp } from '@svc/encoding';
import type { RecordPlace } from '../committed/tree.ts';
import type { ListedObject, ListedObjectCopy, ObjectPage } from '../face/objects.ts';
import { pointerOf } from '../objects/object-entry.ts';

const slash = 0x2f;
const dot = 0x2e;
/** Bytes that no store spells differently in a URI, so that a name of them can follow a folder's spelling. */
const plainBytes = new Uint8Array(256);
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.,=-') {
  plainBytes[char.charCodeAt(0)] = 1;
}

/** A thousand typical items fit. */
const arenaSize = 256 * 1024;
const maxSpares = 48;
/** Arenas of released pages. Fresh ones for every page would make the collector run several times a second. */
const spares: Buffer[] = [];

/** Where listed addresses are resolved. */
export interface PageStorage {
  readonly adapter: BlockAdapter;
  readonly storageNamespace: string;
}

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
    const arena = this.#arena;
    if (arena === undefined) throw new Error('the page was released');
    const cursor = new ItemCursor(this.#storage);
    let start = 0;
    for (let index = 0; index < this.#ends.length; index += 2) {
      const keyEnd = this.#ends[index] ?? 0;
      const end = this.#ends[index + 1] ?? 0;
      cursor.load(arena, start, keyEnd, end, this.#presigned[index / 2]);
      visitor(cursor);
      start = end;
    }
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
  /** The last folder of an address (its place in the arena) and how the store shows it: neighbours mostly share one. */
  #folderStart = 0;
  #folderEnd = 0;
  #folderType = -1;
  #shownFolder: string | undefined;
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
    const { addressType, addressStart: start, addressEnd: end } = view;
    const nameStart = this.#plainNameStart(start, end);
    if (
      nameStart > 0 &&
      this.#shownFolder !== undefined &&
      this.#isLastFolder(addressType, start, nameStart)
    ) {
      return this.#shownFolder + this.#arena.toString('latin1', nameStart, end);
    }
    const { adapter, storageNamespace } = this.#storage;
    const shown = adapter.absoluteUri(pointerOf(storageNamespace, { address: view.address, addressType }));
    if (nameStart > 0) {
      this.#folderStart = start;
      this.#folderEnd = nameStart;
      this.#folderType = addressType;
      const name = this.#arena.toString('latin1', nameStart, end);
      this.#shownFolder = shown.endsWith(`/${name}`) ? shown.slice(0, -name.length) : undefined;
    }
    return shown;
  }

  /** Where the last element of an address starts when all its bytes are plain, else 0. */
  #plainNameStart(start: number, end: number): number {
    const arena = this.#arena;
    let at = end - 1;
    for (; at >= start && arena[at] !== slash; at -= 1) {
      if (plainBytes[arena[at] ?? 0] === 0) return 0;
    }
    const name = at + 1;
    // Names that start with a dot may be steps in a path.
    return at < start || name === end || arena[name] === dot ? 0 : name;
  }

  #isLastFolder(addressType: number, start: number, end: number): boolean {
    if (addressType !== this.#folderType || end - start !== this.#folderEnd - this.#folderStart) return false;
    return this.#arena.compare(this.#arena, this.#folderStart, this.#folderEnd, start, end) === 0;
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

  get seconds(): number {
    return this.#view().seconds;
  }

  get contentType(): string {
    return this.#view().contentType;
  }

  get hasMetadata(): boolean {
    return this.#view().hasMetadata;
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
