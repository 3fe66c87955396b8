import { crc64Wasm } from './crc64-wasm.ts';
import { instantiateWasm, type WasmMemory } from './wasm.ts';

interface Crc64Exports {
  readonly memory: WasmMemory;
  heap(): number;
  prepare(): void;
  update(state: bigint, source: number, length: number): bigint;
}

/** So much is given to the code in WebAssembly at a time. */
const windowBytes = 128 * 1024;
const allOnes = 0xffffffffffffffffn;

let shared: { readonly run: Crc64Exports; readonly start: number; readonly bytes: Uint8Array } | undefined;

/** One instance in a thread; it keeps nothing between calls. */
function kernel(): NonNullable<typeof shared> {
  if (shared === undefined) {
    const run = instantiateWasm(crc64Wasm) as Crc64Exports;
    run.prepare();
    shared = { run, start: run.heap(), bytes: new Uint8Array(run.memory.buffer) };
  }
  return shared;
}

/**
 * Incremental CRC-64/NVME, the checksum behind `x-amz-checksum-crc64nvme`: reflected polynomial 0x9A6C9329AC4BC9B5, start
 * value and final xor all ones.
 */
export class Crc64Nvme {
  #state = allOnes;

  update(bytes: Uint8Array): this {
    const { run, start, bytes: memory } = kernel();
    for (let at = 0; at < bytes.length; at += windowBytes) {
      const piece =
        bytes.length <= windowBytes ? bytes : bytes.subarray(at, Math.min(at + windowBytes, bytes.length));
      memory.set(piece, start);
      this.#state = run.update(this.#state, start, piece.length);
    }
    return this;
  }

  /** Eight bytes, big-endian, as checksum headers carry them. */
  digest(): Buffer {
    const bytes = Buffer.allocUnsafe(8);
    bytes.writeBigUInt64BE(BigInt.asUintN(64, this.#state) ^ allOnes);
    return bytes;
  }
}
