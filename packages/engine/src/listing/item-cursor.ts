import type { BlockAdapter, PresignedUrl } from '@svc/block';
import { EntryView, type AddressType, type StringMap, type Timestamp } from '@svc/encoding';
import type { ListedObject } from '../face/objects.ts';
import { pointerOf } from '../objects/object-entry.ts';
import { isSameFolder, plainNameStart, shownFolder, type ShownFolder } from './shown-folder.ts';

/** Where listed addresses are resolved. */
export interface PageStorage {
  readonly adapter: BlockAdapter;
  readonly storageNamespace: string;
}

const typeNames = ['by_prefix', 'relative', 'full'] as const;

/**
 * The one item a visitor looks at; fields are decoded when asked for. The page's own writer also sees where the stored
 * texts lie in the page's bytes, and copies them.
 */
export class ItemCursor implements ListedObject {
  readonly #storage: PageStorage;
  readonly #entry = new EntryView();
  bytes: Buffer = Buffer.alloc(0);
  #start = 0;
  #keyEnd = 0;
  #end = 0;
  #loaded = false;
  /** Of the last address that has one. */
  folder: ShownFolder | undefined;
  presigned: PresignedUrl | undefined;

  constructor(storage: PageStorage) {
    this.#storage = storage;
  }

  load(bytes: Buffer, start: number, keyEnd: number, end: number, presigned: PresignedUrl | undefined): void {
    this.bytes = bytes;
    this.#start = start;
    this.#keyEnd = keyEnd;
    this.#end = end;
    this.#loaded = false;
    this.presigned = presigned;
  }

  get kind(): 'object' | 'common_prefix' {
    return this.#end === this.#keyEnd ? 'common_prefix' : 'object';
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
    return this.bytes.subarray(this.#start, this.#keyEnd);
  }

  get path(): string {
    return this.bytes.toString('utf8', this.#start, this.#keyEnd);
  }

  get address(): string {
    return this.#view().address;
  }

  get addressTypeNumber(): AddressType {
    return this.#view().addressType;
  }

  get addressType(): 'relative' | 'full' | 'by_prefix' {
    return typeNames[this.#view().addressType];
  }

  /** Where the name begins when the address is a plain name in `folder`, else 0. */
  get nameInFolder(): number {
    const { bytes, folder } = this;
    if (folder === undefined) return 0;
    const { addressType, addressStart, addressEnd } = this.#view();
    const nameStart = plainNameStart(bytes, addressStart, addressEnd);
    if (nameStart === 0) return 0;
    return isSameFolder(folder, bytes, addressType, addressStart, nameStart) ? nameStart : 0;
  }

  get physicalAddress(): string {
    const nameStart = this.nameInFolder;
    if (nameStart > 0) return (this.folder?.shown ?? '') + this.#name(nameStart);
    const { adapter, storageNamespace } = this.#storage;
    const { address, addressType, addressStart, addressEnd } = this.#view();
    const shown = adapter.absoluteUri(pointerOf(storageNamespace, { address, addressType }));
    const end = plainNameStart(this.bytes, addressStart, addressEnd);
    if (end > 0) {
      this.folder = shownFolder({ start: addressStart, end, type: addressType }, shown, this.#name(end));
    }
    return shown;
  }

  /** Plain bytes are ASCII. */
  #name(start: number): string {
    return this.bytes.toString('latin1', start, this.addressEnd);
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
      this.#entry.load(this.bytes, this.#keyEnd, this.#end);
      this.#loaded = true;
    }
    return this.#entry;
  }
}
