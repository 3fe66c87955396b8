interface Compiler {
  compile(bytes: Uint8Array): Promise<object>;
  instantiate(source: object, imports?: object): Promise<unknown>;
}

/**
 * The loader of the interpreter compiles it for every instance, which takes longer than most scripts. In this thread it
 * is compiled once: code has no state, memory and tables belong to instances.
 */
export function compileOnce(): void {
  const wasm = (globalThis as unknown as { WebAssembly: Compiler }).WebAssembly;
  const instantiate = wasm.instantiate.bind(wasm);
  let compiled: Promise<object> | undefined;
  wasm.instantiate = async (source, imports) => {
    if (!(source instanceof Uint8Array)) return instantiate(source, imports);
    compiled ??= wasm.compile(source);
    const module = await compiled;
    return { module, instance: await instantiate(module, imports) };
  };
}
