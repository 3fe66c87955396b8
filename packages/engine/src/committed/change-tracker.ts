import type { PackedChanges } from './packed-changes.ts';
import type { TreeCursor } from './tree-cursor.ts';
import type { TreeWriter } from './tree-writer.ts';

/** Remembers that `newId` differs from `oldId` in exactly these keys. */
export type SaveChangeList = (oldId: string, newId: string, keys: readonly Buffer[]) => void;

const maxListedKeys = 1000;

/**
 * Notices when one old range became exactly one new range, and which keys differ between them: the first diff that
 * asks then looks at those keys only.
 */
export class ChangeTracker {
  readonly #base: TreeCursor;
  readonly #writer: TreeWriter;
  readonly #save: SaveChangeList | undefined;
  #keys: Buffer[] | undefined;
  /** The base's current record still waits while a change is put before it. */
  baseRecordWaits = false;

  constructor(base: TreeCursor, writer: TreeWriter, save: SaveChangeList | undefined) {
    this.#base = base;
    this.#writer = writer;
    this.#save = save;
  }

  /** The base range at hand is about to be entered. */
  entering(): void {
    const base = this.#base;
    const writer = this.#writer;
    const save = this.#save;
    this.#keys = undefined;
    writer.onClosing = undefined;
    // An open range already holds records of an earlier one.
    if (save === undefined || writer.isOpen) return;
    const keys: Buffer[] = [];
    const oldId = base.meta.id(base.range);
    const { range } = base;
    const firstOpened = writer.rangesOpened + 1;
    this.#keys = keys;
    writer.onClosing = () => {
      const exhausted =
        base.range !== range || base.state !== 'record' || (!this.baseRecordWaits && base.atLastRecord);
      if (!exhausted || writer.rangesOpened !== firstOpened || keys.length > maxListedKeys) return undefined;
      return (newId) => save(oldId, newId, keys);
    };
  }

  /** Changes are being noted. */
  get isNoting(): boolean {
    return this.#keys !== undefined && this.#keys.length <= maxListedKeys;
  }

  /** The current change has an effect. */
  note(changes: PackedChanges): void {
    if (this.isNoting)
      this.#keys?.push(Buffer.from(changes.bytes.subarray(changes.keyStart, changes.keyEnd)));
  }
}
