const quote = 0x22;
const backslash = 0x5c;
const firstPrintable = 0x20;

/** Writes JSON as bytes. Stored UTF-8 is copied as it is; only text that needs escapes is decoded. */
export class JsonWriter {
  #buffer: Buffer;
  #at = 0;

  constructor(capacity: number) {
    this.#buffer = Buffer.allocUnsafe(capacity);
  }

  /** Fixed structure: ASCII that needs no escapes. */
  raw(text: string): void {
    this.#reserve(text.length);
    this.#ascii(text);
  }

  /** JSON that is ready. */
  ready(text: string): void {
    this.#reserve(text.length * 3);
    this.#at += this.#buffer.write(text, this.#at);
  }

  integer(value: number): void {
    this.raw(String(value));
  }

  /** A string from UTF-8 bytes. */
  text(bytes: Buffer, start: number, end: number): void {
    this.#reserve(end - start + 2);
    const buffer = this.#buffer;
    let at = this.#at;
    buffer[at++] = quote;
    for (let from = start; from < end; from++) {
      const byte = bytes[from] ?? 0;
      if (byte < firstPrintable || byte === quote || byte === backslash) {
        this.value(bytes.toString('utf8', start, end));
        return;
      }
      buffer[at++] = byte;
    }
    buffer[at++] = quote;
    this.#at = at;
  }

  /** One string from two texts that need no escapes. */
  twoTexts(head: Buffer, bytes: Buffer, start: number, end: number): void {
    this.#reserve(head.length + end - start + 2);
    const buffer = this.#buffer;
    let at = this.#at;
    buffer[at++] = quote;
    buffer.set(head, at);
    at += head.length;
    for (let from = start; from < end; from++) buffer[at++] = bytes[from] ?? 0;
    buffer[at++] = quote;
    this.#at = at;
  }

  string(text: string): void {
    this.#reserve(text.length * 3 + 2);
    const buffer = this.#buffer;
    const start = this.#at + 1;
    const end = start + buffer.write(text, start);
    for (let index = start; index < end; index++) {
      const byte = buffer[index] ?? 0;
      if (byte < firstPrintable || byte === quote || byte === backslash) {
        this.value(text);
        return;
      }
    }
    buffer[start - 1] = quote;
    buffer[end] = quote;
    this.#at = end + 1;
  }

  /** Anything else, by the ordinary serialiser. */
  value(value: unknown): void {
    this.ready(JSON.stringify(value));
  }

  /** What was written since the last call, until the next write. */
  take(): Buffer {
    const written = this.#buffer.subarray(0, this.#at);
    this.#at = 0;
    return written;
  }

  #ascii(text: string): void {
    const buffer = this.#buffer;
    let at = this.#at;
    for (let index = 0; index < text.length; index++) buffer[at++] = text.charCodeAt(index);
    this.#at = at;
  }

  #reserve(size: number): void {
    const needed = this.#at + size;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, needed));
    this.#buffer.copy(grown, 0, 0, this.#at);
    this.#buffer = grown;
  }
}
