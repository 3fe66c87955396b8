/** What is used of a WebAssembly memory. */
export interface WasmMemory {
  /** Another one after every `grow`. */
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

interface WasmNamespace {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
}

const compiled = new Map<string, object>();

/** The exports of a new instance, with memory of its own, of the module in `base64`; compiled once in a thread. */
export function instantiateWasm(base64: string): unknown {
  // The compiler knows the namespace only as part of a browser.
  const { Module, Instance } = (globalThis as unknown as { WebAssembly: WasmNamespace }).WebAssembly;
  let module = compiled.get(base64);
  if (module === undefined) {
    module = new Module(Buffer.from(base64, 'base64'));
    compiled.set(base64, module);
  }
  return new Instance(module).exports;
}
