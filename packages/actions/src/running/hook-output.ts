const mark = '... output truncated\n';

/** What a hook writes, up to a limit; what comes after it is dropped. */
export class HookOutput {
  readonly #limit: number;
  readonly #parts: Buffer[] = [];
  #size = 0;
  #isFull = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  write(text: string | Uint8Array): void {
    if (this.#isFull) return;
    const bytes = typeof text === 'string' ? Buffer.from(text) : Buffer.from(text);
    const room = this.#limit - this.#size;
    this.#parts.push(bytes.subarray(0, room));
    this.#size += Math.min(bytes.length, room);
    if (bytes.length <= room) return;
    this.#isFull = true;
    const endsLine = bytes[room - 1] === 0x0a;
    this.#parts.push(Buffer.from(endsLine ? mark : `\n${mark}`));
  }

  /** Bytes so far. */
  get size(): number {
    return this.#size;
  }

  /** The reason of a failure, kept even when there is no more room. */
  end(reason: string): void {
    this.#parts.push(Buffer.from(`Error: ${reason}\n`));
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }
}
