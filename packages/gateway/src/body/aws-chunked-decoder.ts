import { S3Error } from '../errors/s3-error.ts';
import type { ChunkSignatures } from './chunk-signatures.ts';

const maxLine = 4096;
const maxTrailers = 16 * 1024;
const lf = 0x0a;
const empty = Buffer.alloc(0);

type State = 'size' | 'data' | 'data-end' | 'trailers';

function malformed(what: string): S3Error {
  const cause = new Error(`the aws-chunked body is malformed: ${what}`);
  return new S3Error('IncompleteBody', undefined, { cause });
}

export interface AwsChunkedOptions {
  /** Set for signed chunks. */
  readonly signatures: ChunkSignatures | undefined;
  readonly trailer: boolean;
  /** Receives slices of the input; nothing is copied. */
  readonly onData: (data: Buffer) => void;
  /** Sees the trailers before their signature is looked at. */
  readonly onTrailers?: (trailers: ReadonlyMap<string, string>) => void;
}

/** Takes `aws-chunked` framing off a body, piece by piece, and verifies chunk signatures on the way. */
export class AwsChunkedDecoder {
  readonly #signatures: ChunkSignatures | undefined;
  readonly #allowsTrailer: boolean;
  readonly #onData: (data: Buffer) => void;
  readonly #onTrailers: ((trailers: ReadonlyMap<string, string>) => void) | undefined;
  #state: State = 'size';
  #remaining = 0;
  #pending: Buffer = empty;
  #signature: string | undefined;

  constructor(options: AwsChunkedOptions) {
    this.#signatures = options.signatures;
    this.#allowsTrailer = options.trailer;
    this.#onData = options.onData;
    this.#onTrailers = options.onTrailers;
  }

  write(input: Buffer): void {
    let at = 0;
    while (at < input.length) {
      switch (this.#state) {
        case 'size': {
          const end = input.indexOf(lf, at);
          this.#keep(
            input.subarray(at, end < 0 ? input.length : end + 1),
            maxLine,
            'a chunk header is too long',
          );
          if (end < 0) return;
          at = end + 1;
          this.#startChunk(this.#takeLine());
          break;
        }
        case 'data': {
          const data = input.subarray(at, at + this.#remaining);
          this.#signatures?.update(data);
          this.#onData(data);
          this.#remaining -= data.length;
          at += data.length;
          if (this.#remaining === 0) this.#state = 'data-end';
          break;
        }
        case 'data-end': {
          const end = input.indexOf(lf, at);
          this.#keep(
            input.subarray(at, end < 0 ? input.length : end + 1),
            2,
            'a chunk is longer than announced',
          );
          if (end < 0) return;
          if (this.#takeLine() !== '') throw malformed('a chunk is longer than announced');
          at = end + 1;
          this.#endChunk();
          this.#state = 'size';
          break;
        }
        case 'trailers':
          this.#keep(input.subarray(at), maxTrailers, 'the trailer is too long');
          return;
      }
    }
  }

  /** Call at the end of the body; answers the trailers by lower-case name. */
  end(): Map<string, string> {
    if (this.#state !== 'trailers') throw malformed('it ended before its last chunk');
    const trailers = new Map<string, string>();
    for (const line of this.#pending.toString('latin1').split('\n')) {
      const text = line.trim();
      if (text === '') continue;
      const colon = text.indexOf(':');
      if (!this.#allowsTrailer) throw malformed('unexpected text after the last chunk');
      if (colon < 1) throw new S3Error('MalformedTrailerError');
      trailers.set(text.slice(0, colon).trim().toLowerCase(), text.slice(colon + 1).trim());
    }
    const signature = trailers.get('x-amz-trailer-signature');
    trailers.delete('x-amz-trailer-signature');
    this.#onTrailers?.(trailers);
    if (this.#allowsTrailer && (trailers.size > 0 || signature !== undefined))
      this.#signatures?.endTrailers(trailers, signature);
    return trailers;
  }

  #startChunk(line: string): void {
    const match = /^([0-9a-fA-F]{1,16})[ \t]*(?:;(.*))?$/.exec(line);
    const size = Number.parseInt(match?.[1] ?? '', 16);
    if (match === null || !Number.isSafeInteger(size)) throw malformed('a chunk header has no valid size');
    this.#signature = undefined;
    for (const extension of (match[2] ?? '').split(';')) {
      const [name = '', value = ''] = extension.split('=', 2);
      if (name.trim() === 'chunk-signature') this.#signature = value.trim();
    }
    if (this.#signatures !== undefined && !/^[0-9a-f]{64}$/.test(this.#signature ?? ''))
      throw malformed('a chunk has no signature');
    this.#remaining = size;
    if (size > 0) {
      this.#state = 'data';
      return;
    }
    this.#endChunk();
    this.#state = 'trailers';
  }

  #endChunk(): void {
    this.#signatures?.endChunk(this.#signature);
  }

  #keep(piece: Buffer, limit: number, fault: string): void {
    if (this.#pending.length + piece.length > limit) throw malformed(fault);
    // A copy: the piece is a view on a buffer that is reused or large.
    this.#pending = this.#pending.length === 0 ? Buffer.from(piece) : Buffer.concat([this.#pending, piece]);
  }

  #takeLine(): string {
    const line = this.#pending.toString('latin1').replace(/\r?\n$/, '');
    this.#pending = empty;
    return line;
  }
}
