const pageBytes = 65_536;

interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/**
 * Keeps WebAssembly memory of this thread below a limit: growing beyond it is refused, which Lua reports as "not enough
 * memory". Cheaper than an allocator of ours, which would be called for every table and string.
 */
export function limitMemory(limit: number): void {
  const { Memory } = (globalThis as unknown as { WebAssembly: { Memory: { prototype: Memory } } })
    .WebAssembly;
  const grow: (this: Memory, pages: number) => number = Reflect.get(Memory.prototype, 'grow');
  Memory.prototype.grow = function growWithin(this: Memory, pages: number): number {
    if (this.buffer.byteLength + pages * pageBytes > limit)
      throw new RangeError('the memory limit is reached');
    return grow.call(this, pages);
  };
}
