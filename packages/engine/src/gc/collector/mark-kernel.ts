import { instantiateWasm, type WasmMemory } from '@svc/encoding';
import { marksWasm } from '../../marks-wasm.ts';

/** `wasm/marks.as` says what each of them does. */
interface MarksExports {
  readonly memory: WasmMemory;
  heap(): number;
  begin(): void;
  valueCount(): number;
  valueBytes(): number;
  marks(start: number, end: number, output: number): number;
}

const wasmPage = 65_536;
/** Blocks are a few KiB; a larger one is left to others. */
const roomForBlock = 1024 * 1024;

/** Takes the marks of one block after the other: WebAssembly with memory of its own. */
export class MarkKernel {
  readonly #run = instantiateWasm(marksWasm) as MarksExports;
  readonly #input = this.#run.heap();
  readonly #output = this.#input + roomForBlock;
  #memory = Buffer.from(this.#run.memory.buffer);
  #end = this.#output;

  /** False for a block with something unusual in it, damage too: then nothing of it is taken. */
  add(bytes: Buffer, end: number): boolean {
    if (end > roomForBlock) return false;
    // A mark takes less than what it is made from.
    this.#reserve(this.#end + end);
    bytes.copy(this.#memory, this.#input, 0, end);
    const marksEnd = this.#run.marks(this.#input, this.#input + end, this.#end);
    if (marksEnd === 0) return false;
    this.#end = marksEnd;
    return true;
  }

  /** Hands over what was taken, and begins anew. The marks, two numbers each, are good until then. */
  take(use: (marks: Uint32Array, values: number, valueBytes: number) => void): void {
    const marks = new Uint32Array(this.#memory.buffer, this.#output, (this.#end - this.#output) / 4);
    use(marks, this.#run.valueCount(), this.#run.valueBytes());
    this.#end = this.#output;
    this.#run.begin();
  }

  #reserve(bytes: number): void {
    const missing = bytes - this.#memory.length;
    if (missing <= 0) return;
    this.#run.memory.grow(Math.ceil(missing / wasmPage) + 16);
    this.#memory = Buffer.from(this.#run.memory.buffer);
  }
}
