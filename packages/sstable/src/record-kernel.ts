import { instantiateWasm, type WasmMemory } from '@svc/encoding';
import { recordsWasm } from './records-wasm.ts';

/** What `add` and `addBody` answer; the first two mean that the record was added. */
export const recordStatus = {
  done: 0,
  /** The table may have to end with this record. */
  due: 1,
  /** The block must be flushed first. */
  mustCut: 2,
  /** Hash input must be passed on first. */
  mustPass: 3,
  disordered: 4,
  /** The entry is unreadable or not as this writer would have it. */
  unusual: 5,
} as const;

/** `wasm/records.as` says what each of them does. */
interface RecordExports {
  readonly memory: WasmMemory;
  reserve(size: number): void;
  reset(): void;
  setDivisor(divisor: number): void;
  setSizeLimit(size: number): void;
  add(keyLength: number, valueLength: number): number;
  openBody(length: number): void;
  addBody(): number;
  addPacked(): number;
  isBody(length: number): number;
  takeBody(entriesLength: number, entries: number, restarts: number): void;
  resume(keyLength: number, records: number, keyBytes: number, valueBytes: number): void;
  finishBlock(): number;
  startBlock(): void;
  passed(): void;
  lastKeyIsMultiple(divisor: number): number;
  stage(): number;
  body(): number;
  block(): number;
  estimate(): number;
  entries(): number;
  bodyPosition(): number;
  inputStart(): number;
  inputEnd(): number;
  lastKeyStart(): number;
  lastKeyLength(): number;
  nextKeyStart(): number;
  nextKeyLength(): number;
  recordCount(): number;
  keyBytes(): number;
  valueBytes(): number;
}

const firstRoom = 64 * 1024;
const maxIdle = 4;
const idle: RecordKernel[] = [];

/** The part of a table writer that touches every record: WebAssembly with memory of its own. */
export class RecordKernel {
  readonly run: RecordExports;
  /** All of its memory. */
  bytes: Buffer;
  /** Where a record is put before `add`, and a block's body before `openBody`. */
  stage: number;
  body: number;
  #room = firstRoom;

  private constructor() {
    this.run = instantiateWasm(recordsWasm) as RecordExports;
    this.run.reserve(firstRoom);
    this.bytes = Buffer.from(this.run.memory.buffer);
    this.stage = this.run.stage();
    this.body = this.run.body();
  }

  /** One for a new table; give it back by `release`. */
  static take(): RecordKernel {
    const kernel = idle.pop() ?? new RecordKernel();
    kernel.run.reset();
    return kernel;
  }

  /** Memory that grew for an unusual record is not kept. */
  release(): void {
    if (this.#room === firstRoom && idle.length < maxIdle) idle.push(this);
  }

  get room(): number {
    return this.#room;
  }

  /** Makes room for a record, or a body, of `size` bytes. */
  reserve(size: number): void {
    if (size <= this.#room) return;
    this.#room = size + (size >>> 3);
    this.run.reserve(this.#room);
    this.bytes = Buffer.from(this.run.memory.buffer);
    this.stage = this.run.stage();
    this.body = this.run.body();
  }

  get lastKey(): Buffer {
    const start = this.run.lastKeyStart();
    return this.bytes.subarray(start, start + this.run.lastKeyLength());
  }

  /** The key that could not be added before the block is cut. */
  get nextKey(): Buffer {
    const start = this.run.nextKeyStart();
    return this.bytes.subarray(start, start + this.run.nextKeyLength());
  }
}
