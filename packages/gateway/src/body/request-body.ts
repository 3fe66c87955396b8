import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { BodyDigests, DigestName } from '@svc/engine';
import { countStreamed, type HeldMemory } from '@svc/http';
import { S3Error } from '../errors/s3-error.ts';
import type { S3Request } from '../request/s3-request.ts';
import type { Authenticated } from '../signature/authenticate.ts';
import { AwsChunkedDecoder } from './aws-chunked-decoder.ts';
import {
  checksumHeader,
  checksumHeaderOf,
  contentMd5Of,
  decodeChecksum,
  digestsOf,
  trailerAlgorithmOf,
  type Checksum,
  type ChecksumAlgorithm,
} from './checksums.ts';
import { ChunkSignatures } from './chunk-signatures.ts';
import { payloadModeOf, type PayloadMode } from './payload-mode.ts';

/** Bodies up to this size are collected in memory: one buffer is cheaper than a stream. */
const collectLimit = 1024 * 1024;
/** How many bytes a stream buffers ahead of its reader; the second value applies when memory is short. */
const streamAhead = 1024 * 1024;
const streamAheadAtLeast = 64 * 1024;
/** Each piece costs about a hundred bytes of overhead, so smaller ones are joined. */
const mostPieces = 1024;

/** A whole small body, or a stream of known or unknown (-1) length: what the engine takes. */
export type CollectedBody = Buffer | { readonly stream: Readable; readonly size: number };

export interface RequestBodyOptions {
  readonly message: IncomingMessage;
  readonly request: S3Request;
  readonly authenticated: Authenticated;
  /** False where `x-amz-checksum-*` speaks of the whole object (CompleteMultipartUpload). */
  readonly checksumIsOfBody: boolean;
  /** Counts what is collected in memory. */
  readonly memory: HeldMemory;
  /** Called before the first read: the moment for `100 Continue`. */
  readonly beforeRead: () => void;
}

/**
 * The body of one request: framing taken off, every promise the client made about it (length, digests, chunk
 * signatures, trailer) checked before anything becomes visible.
 */
export class RequestBody {
  readonly #message: IncomingMessage;
  readonly #authenticated: Authenticated;
  readonly #mode: PayloadMode;
  readonly #contentMd5: Buffer | undefined;
  readonly #checksum: Checksum | undefined;
  readonly #trailerAlgorithm: ChecksumAlgorithm | undefined;
  readonly #beforeRead: () => void;
  readonly #memory: HeldMemory;
  #computed: ChecksumAlgorithm | undefined;
  #trailers: ReadonlyMap<string, string> | undefined;
  #stream: Readable | undefined;
  /** Why the body itself could not be read, whatever the engine made of it. */
  failure: Error | undefined;
  /** Decoded length; -1 when the client did not say. */
  readonly size: number;

  /** Refuses contradictory or unreadable announcements; reads nothing yet. */
  constructor(options: RequestBodyOptions) {
    const { message, request, authenticated } = options;
    this.#message = message;
    this.#beforeRead = options.beforeRead;
    this.#memory = options.memory;
    this.#authenticated = authenticated;
    this.#mode = payloadModeOf(authenticated.payloadHash);
    if (this.#mode.kind === 'chunked' && this.#mode.signed && authenticated.identity.method === 'sig_v2')
      throw new S3Error('InvalidRequest', 'Signed chunks need a SigV4 signature.');
    this.#contentMd5 = contentMd5Of(request);
    this.#checksum = options.checksumIsOfBody ? checksumHeaderOf(request) : undefined;
    this.#trailerAlgorithm =
      this.#mode.kind === 'chunked' && this.#mode.trailer ? trailerAlgorithmOf(request) : undefined;
    this.size = decodedLength(request, this.#mode);
  }

  /** The checksum the client sends with this body, in a header or at the end. */
  get announced(): ChecksumAlgorithm | undefined {
    return this.#checksum?.algorithm ?? this.#trailerAlgorithm;
  }

  /** Asks for a checksum of our own, beside the one the client may send. */
  compute(algorithm: ChecksumAlgorithm | undefined): void {
    if (this.announced !== algorithm) this.#computed = algorithm;
  }

  /** The checksum that was asked for, as a header; nothing where the client sent that one. */
  computed(digests: BodyDigests): Record<string, string> {
    if (this.#computed === undefined) return {};
    const value = digestIn(digests, this.#computed);
    return value === undefined ? {} : { [checksumHeader(this.#computed)]: value.toString('base64') };
  }

  /** Digests the engine must compute besides MD5. */
  get digests(): DigestName[] {
    const names = new Set<DigestName>();
    if (this.#mode.kind === 'plain' && this.#mode.sha256 !== undefined) names.add('sha256');
    for (const algorithm of [this.announced, this.#computed])
      if (algorithm !== undefined && algorithm !== 'md5') names.add(algorithm);
    return [...names];
  }

  /** The body for the engine. A small one is collected first if there is memory for it. */
  async open(): Promise<CollectedBody> {
    if (this.size >= 0 && this.size <= collectLimit && this.#memory.hold(this.size))
      return this.collect(collectLimit);
    const ahead = this.#memory.hold(streamAhead) ? streamAhead : streamAheadAtLeast;
    const stream = new BodyStream(this.#message, ahead, this.#beforeRead, (onData) => this.#decoder(onData));
    stream.once('error', (error) => (this.failure ??= error));
    this.#stream = stream;
    return { stream, size: this.size };
  }

  /** Gives the body up: its reader failed and may still hold the stream. */
  abandon(): void {
    this.#stream?.destroy();
  }

  /** The whole body. Its memory has been reserved. */
  collect(limit: number): Promise<Buffer> {
    const message = this.#message;
    return new Promise((resolve, reject) => {
      const pieces: Buffer[] = [];
      const joined: Buffer[] = [];
      let length = 0;
      const finish = (error: unknown): void => {
        message.off('data', onInput).off('end', onEnd).off('error', onGone).off('close', onGone);
        if (error === undefined) {
          const all = joined.length === 0 ? pieces : [...joined, ...pieces];
          const [first] = all;
          resolve(all.length === 1 && first !== undefined ? first : Buffer.concat(all, length));
        } else {
          message.pause();
          this.failure = error as Error;
          reject(this.failure);
        }
      };
      const onData = (data: Buffer): void => {
        length += data.length;
        if (length > limit)
          throw new S3Error('InvalidRequest', `The request body is larger than ${limit} bytes.`);
        pieces.push(data);
        if (pieces.length === mostPieces) joined.push(Buffer.concat(pieces.splice(0)));
      };
      const decoder = this.#decoder(onData);
      const onInput = (input: Buffer): void => {
        try {
          decoder.write(input);
        } catch (error) {
          finish(error);
        }
      };
      const onEnd = (): void => {
        try {
          decoder.end();
        } catch (error) {
          finish(error);
          return;
        }
        finish(undefined);
      };
      const onGone = (): void => finish(clientGone());
      if (message.destroyed && !message.readableEnded) {
        reject(clientGone());
        return;
      }
      this.#beforeRead();
      if (message.complete) {
        // A small body usually arrives with its headers: then it can be read without waiting for events.
        for (let input; (input = message.read() as Buffer | null) !== null;) {
          onInput(input);
          if (this.failure !== undefined) return;
        }
        onEnd();
        return;
      }
      message.on('data', onInput).on('end', onEnd).on('error', onGone).on('close', onGone);
    });
  }

  /** Reads a request document and verifies it at once. */
  async readDocument(limit: number): Promise<Buffer> {
    if (this.size > limit)
      throw new S3Error('MalformedXML', `The request document is larger than ${limit} bytes.`);
    if (!this.#memory.hold(this.size < 0 ? limit : this.size)) throw new S3Error('SlowDown');
    const document = await this.collect(limit);
    this.verify(await digestsOf(document, this.digests));
    return document;
  }

  /** Throws unless the body is what the client said; answers the checksum that was verified, as a header. */
  verify(digests: BodyDigests): Record<string, string> {
    if (this.#mode.kind === 'plain' && this.#mode.sha256 !== undefined) {
      if (digests.extra.sha256?.equals(this.#mode.sha256) !== true)
        throw new S3Error('XAmzContentSHA256Mismatch', undefined, {
          elements: [
            ['ClientComputedContentSHA256', this.#mode.sha256.toString('hex')],
            ['S3ComputedContentSHA256', digests.extra.sha256?.toString('hex') ?? ''],
          ],
        });
    }
    if (this.#contentMd5 !== undefined && !this.#contentMd5.equals(digests.md5))
      throw new S3Error('BadDigest', 'The Content-MD5 you specified did not match what we received.', {
        elements: [
          ['ExpectedDigest', this.#contentMd5.toString('hex')],
          ['CalculatedDigest', digests.md5.toString('base64')],
        ],
      });
    const checksum = this.#checksum ?? this.#trailerChecksum();
    if (checksum === undefined) return {};
    const { algorithm, value } = checksum;
    const place = this.#checksum === undefined ? 'trailing header' : 'header';
    if (digestIn(digests, algorithm)?.equals(decodeChecksum(algorithm, value, place)) !== true)
      throw new S3Error(
        'BadDigest',
        `The ${algorithm.toUpperCase()} you specified did not match the calculated checksum.`,
      );
    return { [checksumHeader(algorithm)]: value };
  }

  #trailerChecksum(): Checksum | undefined {
    if (this.#trailerAlgorithm === undefined) return undefined;
    const value = this.#trailers?.get(checksumHeader(this.#trailerAlgorithm));
    return value === undefined ? undefined : { algorithm: this.#trailerAlgorithm, value };
  }

  #decoder(onData: (data: Buffer) => void): BodyDecoder {
    let length = 0;
    const counted = (data: Buffer): void => {
      length += data.length;
      if (this.size >= 0 && length > this.size) throw otherLength();
      onData(data);
    };
    const checkLength = (): void => {
      if (this.size >= 0 && length !== this.size) throw otherLength();
    };
    if (this.#mode.kind === 'plain') return { write: counted, end: checkLength };
    const { signed, trailer } = this.#mode;
    const signer = signed ? this.#authenticated.chunkSigner : undefined;
    const chunks = new AwsChunkedDecoder({
      signatures: signer === undefined ? undefined : new ChunkSignatures(signer),
      trailer,
      onData: counted,
      onTrailers: (trailers) => this.#checkTrailers(trailers),
    });
    return {
      write: (input) => chunks.write(input),
      end: () => {
        this.#trailers = chunks.end();
        checkLength();
      },
    };
  }

  #checkTrailers(trailers: ReadonlyMap<string, string>): void {
    const announced =
      this.#trailerAlgorithm === undefined ? undefined : checksumHeader(this.#trailerAlgorithm);
    const isSound = announced === undefined ? trailers.size === 0 : trailers.has(announced);
    if (!isSound) throw new S3Error('MalformedTrailerError');
  }
}

function digestIn(digests: BodyDigests, algorithm: ChecksumAlgorithm): Buffer | undefined {
  return algorithm === 'md5' ? digests.md5 : digests.extra[algorithm];
}

function otherLength(): S3Error {
  return new S3Error(
    'IncompleteBody',
    'You did not provide the number of bytes specified by the Content-Length HTTP header',
  );
}

interface BodyDecoder {
  write(input: Buffer): void;
  end(): void;
}

/** The decoded body as a stream of its own: destroying it must not destroy the connection. */
class BodyStream extends Readable {
  readonly #message: IncomingMessage;
  readonly #beforeRead: () => void;
  readonly #decoder: BodyDecoder;
  #started = false;

  constructor(
    message: IncomingMessage,
    ahead: number,
    beforeRead: () => void,
    makeDecoder: (onData: (data: Buffer) => void) => BodyDecoder,
  ) {
    super({ highWaterMark: ahead });
    this.#message = message;
    this.#beforeRead = beforeRead;
    this.#decoder = makeDecoder((data) => {
      if (!this.push(data)) message.pause();
    });
  }

  override _read(): void {
    if (!this.#started) {
      this.#started = true;
      if (this.#message.destroyed && !this.#message.readableEnded) {
        this.destroy(clientGone());
        return;
      }
      this.#beforeRead();
      this.#message.on('data', this.#onInput).on('end', this.#onEnd);
      this.#message.on('error', this.#onGone).on('close', this.#onGone);
    }
    this.#message.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#message.off('data', this.#onInput).off('end', this.#onEnd);
    this.#message.off('error', this.#onGone).off('close', this.#onGone);
    // Do not pause: this may happen late, while the answer is being sent and the rest of the body is drained.
    done(error);
  }

  readonly #onInput = (input: Buffer): void => {
    countStreamed(input.length);
    try {
      this.#decoder.write(input);
    } catch (error) {
      this.destroy(error as Error);
    }
  };

  readonly #onEnd = (): void => {
    try {
      this.#decoder.end();
    } catch (error) {
      this.destroy(error as Error);
      return;
    }
    this.push(null);
  };

  readonly #onGone = (): void => {
    if (!this.#message.readableEnded) this.destroy(clientGone());
  };
}

/** The client left before its body was complete: nobody will read the answer. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError';
}

function clientGone(): ClientGoneError {
  return new ClientGoneError('the client closed the connection before the body was complete');
}

function decodedLength(request: S3Request, mode: PayloadMode): number {
  if (mode.kind === 'chunked') {
    const text = request.headers.get('x-amz-decoded-content-length');
    if (text === undefined) return -1;
    if (text === '') throw new S3Error('MissingContentLength');
    return parseLength(text, 'x-amz-decoded-content-length');
  }
  const text = request.headers.get('content-length');
  if (text !== undefined && text !== '') return parseLength(text, 'Content-Length');
  return request.headers.has('transfer-encoding') ? -1 : 0;
}

function parseLength(text: string, header: string): number {
  const length = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(length))
    throw new S3Error('InvalidArgument', `${header} must be a non-negative integer.`);
  return length;
}
