export interface WireAnswer {
  readonly status: number;
  /** Lower-case names; a header that comes twice has both values. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: Buffer;
  /** Whether the server said that it ends the connection. */
  readonly closes: boolean;
}

interface Head {
  readonly status: number;
  readonly headers: ReadonlyMap<string, readonly string[]>;
}

const headEnd = Buffer.from('\r\n\r\n');
const lineEnd = Buffer.from('\r\n');

/** Reads one answer, more strictly than any client: whatever is not exactly HTTP throws. */
export class AnswerReader {
  readonly #method: string;
  #pending: Buffer = Buffer.alloc(0);
  #head: Head | undefined;
  #pieces: Buffer[] = [];
  #untilClose = false;
  answer: WireAnswer | undefined;

  constructor(method: string) {
    this.#method = method;
  }

  /** Takes what has arrived; answers how many bytes are left over behind the whole answer. */
  read(data: Buffer): number {
    this.#pending = this.#pending.length === 0 ? data : Buffer.concat([this.#pending, data]);
    while (this.answer === undefined && this.#step());
    return this.answer === undefined ? 0 : this.#pending.length;
  }

  /** The connection ended: what is wrong with that, if anything. */
  ended(): string | undefined {
    if (this.answer !== undefined) return undefined;
    if (this.#untilClose && this.#head !== undefined) {
      this.#finish(this.#head, this.#pending);
      return undefined;
    }
    if (this.#head === undefined && this.#pending.length === 0) return undefined;
    return `the connection ended in the middle of an answer (${this.#head?.status ?? 'its head'})`;
  }

  /** False when more bytes are needed. */
  #step(): boolean {
    const head = this.#head ?? this.#readHead();
    if (head === undefined) return false;
    if (head.status < 200) {
      this.#head = undefined;
      return true;
    }
    const length = only(head, 'content-length');
    const coding = only(head, 'transfer-encoding');
    if (length !== undefined && coding !== undefined) throw new Error('an answer with two ways to end');
    if (this.#method === 'HEAD' || head.status === 204 || head.status === 304) {
      this.#finish(head, Buffer.alloc(0));
      return true;
    }
    if (coding !== undefined) return this.#readChunk(head, coding);
    if (length === undefined) {
      if (!saysClose(head)) throw new Error(`an answer ${head.status} without an end`);
      this.#untilClose = true;
      return false;
    }
    if (!/^\d+$/.test(length)) throw new Error(`the length "${length}"`);
    if (this.#pending.length < Number(length)) return false;
    const body = this.#pending.subarray(0, Number(length));
    this.#pending = this.#pending.subarray(Number(length));
    this.#finish(head, body);
    return true;
  }

  #readHead(): Head | undefined {
    const end = this.#pending.indexOf(headEnd);
    if (end < 0) return undefined;
    const [first = '', ...lines] = this.#pending.toString('latin1', 0, end).split('\r\n');
    this.#pending = this.#pending.subarray(end + headEnd.length);
    const status = /^HTTP\/1\.1 (\d{3}) [\t\u0020-\u007e]*$/.exec(first)?.[1];
    if (status === undefined) throw new Error(`the status line ${JSON.stringify(first)}`);
    const headers = new Map<string, string[]>();
    for (const line of lines) {
      const header = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([\t\u0020-\u007e\u0080-\u00ff]*)$/.exec(line);
      if (header === null) throw new Error(`the header line ${JSON.stringify(line)}`);
      const name = (header[1] as string).toLowerCase();
      headers.set(name, [...(headers.get(name) ?? []), header[2] as string]);
    }
    this.#head = { status: Number(status), headers };
    return this.#head;
  }

  #readChunk(head: Head, coding: string): boolean {
    if (coding !== 'chunked') throw new Error(`the transfer coding "${coding}"`);
    const end = this.#pending.indexOf(lineEnd);
    if (end < 0) return false;
    const size = this.#pending.toString('latin1', 0, end);
    if (!/^[0-9a-f]+$/i.test(size)) throw new Error(`the chunk size ${JSON.stringify(size)}`);
    const from = end + lineEnd.length;
    const to = from + Number.parseInt(size, 16);
    if (this.#pending.length < to + lineEnd.length) return false;
    if (!this.#pending.subarray(to, to + lineEnd.length).equals(lineEnd))
      throw new Error('a chunk without an end');
    const data = this.#pending.subarray(from, to);
    this.#pending = this.#pending.subarray(to + lineEnd.length);
    if (data.length > 0) this.#pieces.push(data);
    else this.#finish(head, Buffer.concat(this.#pieces));
    return true;
  }

  #finish(head: Head, body: Buffer): void {
    this.answer = { ...head, body: Buffer.from(body), closes: saysClose(head) };
  }
}

function only({ headers }: Head, name: string): string | undefined {
  const values = headers.get(name);
  if (values !== undefined && values.length > 1) throw new Error(`two headers ${name}`);
  return values?.[0];
}

function saysClose({ headers }: Head): boolean {
  return headers.get('connection')?.some((value) => value.toLowerCase() === 'close') === true;
}
