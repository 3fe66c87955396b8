import { snappyWasm } from './snappy-wasm.ts';
import { VarintReader } from './varint.ts';
import { instantiateWasm, type WasmMemory } from './wasm.ts';
import { WorkBuffer } from './work-buffer.ts';

export class SnappyError extends Error {
  override readonly name = 'SnappyError';
}

interface SnappyExports {
  readonly memory: WasmMemory;
  heap(): number;
  encode(source: number, length: number, target: number): number;
  decode(source: number, end: number, target: number, length: number): number;
}

/** The code in WebAssembly with its memory: input behind `start`, output behind the input. */
interface Kernel {
  readonly run: SnappyExports;
  readonly start: number;
  bytes: Buffer;
}

const pageSize = 65536;
/** Bytes that may be read and written past an end, so that short runs are copied sixteen at a time. */
const slack = 16;
/** Blocks are a few KiB; memory that grew beyond this for an unusual one is let go again. */
const keptMemory = 4 * 1024 * 1024;

/** Both directions are synchronous, so one serves a whole thread. */
let kernel: Kernel | undefined;

/** Room for the compressed form of `length` bytes. */
export function snappyMaxLength(length: number): number {
  return 32 + length + Math.floor(length / 6);
}

/** Compresses `source` into a new buffer. */
export function snappyCompress(source: Uint8Array): Buffer {
  const target = Buffer.allocUnsafe(snappyMaxLength(source.length));
  return target.subarray(0, snappyEncode(source, 0, source.length, target, 0));
}

/** Decompresses a whole Snappy block. `maxLength` bounds the memory a hostile length could ask for. */
export function snappyDecompress(source: Uint8Array, maxLength = 0x7fffffff): Buffer {
  const target = new WorkBuffer(0);
  const length = snappyDecode(source, 0, source.length, target, maxLength);
  return target.bytes.subarray(0, length);
}

/**
 * Compresses `source[start, end)` to `target[at, …)`, which must have room for `snappyMaxLength` bytes, and returns
 * the position after it. The choices are exactly the reference encoder's: compressed lengths are part of range
 * sizes, and range sizes are part of tree ids.
 */
export function snappyEncode(
  source: Uint8Array,
  start: number,
  end: number,
  target: Buffer,
  at: number,
): number {
  const length = end - start;
  const { run, bytes, start: input } = kernelFor(length, snappyMaxLength(length));
  put(source, start, end, bytes, input);
  const output = input + length + slack;
  const outputEnd = run.encode(input, length, output);
  bytes.copy(target, at, output, outputEnd);
  return at + outputEnd - output;
}

/** Decodes `source[start, end)` into `target` from 0 and returns the decoded length. */
export function snappyDecode(
  source: Uint8Array,
  start: number,
  end: number,
  target: WorkBuffer,
  maxLength: number,
): number {
  const header = new VarintReader(source, start, end);
  const length = header.uvarint();
  if (Number.isNaN(length)) throw new SnappyError('snappy: the length is unreadable');
  // A copy of 64 bytes takes three, so no honest block grows more than this.
  if (length > maxLength || length > (end - start) * 22 + 64) {
    throw new SnappyError(`snappy: a length of ${length} is impossible for ${end - start} bytes`);
  }
  const inputLength = end - header.position;
  const { run, bytes, start: input } = kernelFor(inputLength, length);
  put(source, header.position, end, bytes, input);
  const output = input + inputLength + slack;
  switch (run.decode(input, input + inputLength, output, length)) {
    case 0:
      break;
    case -2:
      throw new SnappyError('snappy: the data is longer than it says');
    case -3:
      throw new SnappyError('snappy: a copy reaches before the start');
    default:
      throw new SnappyError('snappy: the data ends early');
  }
  target.reserve(length);
  bytes.copy(target.bytes, 0, output, output + length);
  return length;
}

function kernelFor(inputLength: number, outputLength: number): Kernel {
  if (kernel === undefined || kernel.bytes.length > keptMemory) {
    const run = instantiateWasm(snappyWasm) as SnappyExports;
    kernel = { run, start: run.heap(), bytes: Buffer.from(run.memory.buffer) };
  }
  const missing = kernel.start + inputLength + outputLength + 3 * slack - kernel.bytes.length;
  if (missing > 0) {
    kernel.run.memory.grow(Math.ceil(missing / pageSize));
    kernel.bytes = Buffer.from(kernel.run.memory.buffer);
  }
  return kernel;
}

function put(source: Uint8Array, start: number, end: number, target: Buffer, at: number): void {
  if (source instanceof Buffer) source.copy(target, at, start, end);
  else target.set(source.subarray(start, end), at);
}
