import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { ChunkSigner, deriveSigningKey } from '@svc/encoding';
import { HeldMemory } from '@svc/http';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  chunk,
  letters,
  none,
  plainHeaders,
  plainSeed,
  plainSignatures,
  signedChunks,
  trailerHeaders,
  trailerSeed,
  trailerSignatures,
  trailerText,
} from '../../test/chunk-examples.ts';
import { s3RequestOf } from '../../test/s3-request-of.ts';
import type { S3Error } from '../errors/s3-error.ts';
import type { Authenticated } from '../signature/authenticate.ts';
import { digestsOf } from './checksums.ts';
import { RequestBody } from './request-body.ts';

const scope = { date: '20130524', region: 'us-east-1', service: 's3' };
const key = deriveSigningKey('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', scope);
const user = { username: 'u', createdAt: 0, source: 'internal' };

/** What is left of the shared memory. */
let room = Infinity;
let memory: HeldMemory;

beforeEach(() => {
  room = Infinity;
  memory = new HeldMemory({
    take: (bytes) => bytes <= room && ((room -= bytes), true),
    release: (bytes) => void (room += bytes),
  });
});

/** Whether all of a body is there before it is asked for. */
let arrived = false;

function arrivingMessage(pieces: readonly Buffer[]): IncomingMessage {
  return Readable.from(pieces, { objectMode: false }) as unknown as IncomingMessage;
}

function arrivedMessage(pieces: readonly Buffer[]): IncomingMessage {
  const message = new Readable({ read: () => undefined });
  for (const piece of pieces) message.push(piece);
  message.push(null);
  return Object.assign(message, { complete: true }) as unknown as IncomingMessage;
}

function bodyOf(
  pieces: readonly Buffer[],
  headers: Record<string, string>,
  seedSignature = '',
  method: 'sig_v4' | 'sig_v2' = 'sig_v4',
): RequestBody {
  const message = arrived ? arrivedMessage(pieces) : arrivingMessage(pieces);
  const authenticated: Authenticated = {
    identity: { user, method },
    forwardedHost: undefined,
    chunkSigner:
      method === 'sig_v4' ? new ChunkSigner(key, '20130524T000000Z', scope, seedSignature) : undefined,
    payloadHash: headers['x-amz-content-sha256'],
    presigned: false,
  };
  const request = s3RequestOf('PUT', '/r/main/x', headers);
  return new RequestBody({
    message,
    request,
    authenticated,
    checksumIsOfBody: true,
    memory,
    beforeRead: () => {},
  });
}

async function read(body: RequestBody): Promise<{ content: Buffer; verified: Record<string, string> }> {
  const opened = await body.open();
  const content = Buffer.isBuffer(opened) ? opened : Buffer.concat(await opened.stream.toArray());
  return { content, verified: body.verify(await digestsOf(content, body.digests)) };
}

async function codeOf(run: () => Promise<unknown>): Promise<string> {
  try {
    await run();
  } catch (error) {
    return `${(error as S3Error).status} ${(error as S3Error).code}`;
  }
  return 'ok';
}

/** Cuts a body into pieces of odd sizes. */
function cut(body: Buffer, step: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; at += step) pieces.push(body.subarray(at, at + step));
  return pieces;
}

describe.each([
  ['as it arrives', false],
  ['when all of it has arrived', true],
])('a body %s', (_, already) => {
  beforeEach(() => {
    arrived = already;
  });

  describe('signed chunks', () => {
    it.each([1_000_000, 65537, 1000, 7])('decode the published example cut every %i bytes', async (step) => {
      const body = bodyOf(cut(signedChunks(plainSignatures), step), plainHeaders, plainSeed);
      const { content } = await read(body);
      expect(content.equals(letters(66560))).toBe(true);
    });

    it('are refused when one byte, one signature or the order changes', async () => {
      const good = signedChunks(plainSignatures);
      const flipped = Buffer.from(good);
      flipped[500] = 0x62;
      expect(await codeOf(() => read(bodyOf([flipped], plainHeaders, plainSeed)))).toBe(
        '403 SignatureDoesNotMatch',
      );
      expect(await codeOf(() => read(bodyOf([good], plainHeaders, trailerSeed)))).toBe(
        '403 SignatureDoesNotMatch',
      );
      const unsigned = Buffer.concat([chunk(letters(66560)), Buffer.from('0\r\n\r\n')]);
      expect(await codeOf(() => read(bodyOf([unsigned], plainHeaders, plainSeed)))).toBe(
        '400 IncompleteBody',
      );
    });

    it('verify the signed trailer and its checksum', async () => {
      const good = signedChunks(trailerSignatures, trailerText);
      const { content, verified } = await read(bodyOf(cut(good, 997), trailerHeaders, trailerSeed));
      expect(content.equals(letters(66560))).toBe(true);
      expect(verified).toEqual({ 'x-amz-checksum-crc32c': 'sOO8/Q==' });
      const flipped = Buffer.from(good);
      flipped[500] = 0x62;
      expect(await codeOf(() => read(bodyOf([flipped], trailerHeaders, trailerSeed)))).toBe(
        '403 SignatureDoesNotMatch',
      );
      const forged = signedChunks(trailerSignatures, trailerText.replace('sOO8/Q==', 'AAAAAA=='));
      expect(await codeOf(() => read(bodyOf([forged], trailerHeaders, trailerSeed)))).toBe(
        '403 SignatureDoesNotMatch',
      );
      const signer = new ChunkSigner(key, '20130524T000000Z', scope, trailerSeed);
      for (const data of [letters(65536), letters(1024), none]) signer.chunk(sha256(data));
      const resigned = signer.trailer([['x-amz-checksum-crc32c', 'AAAAAA==']]);
      const lying = signedChunks(
        trailerSignatures,
        `x-amz-checksum-crc32c:AAAAAA==\r\nx-amz-trailer-signature:${resigned}\r\n\r\n`,
      );
      expect(await codeOf(() => read(bodyOf([lying], trailerHeaders, trailerSeed)))).toBe('400 BadDigest');
    });

    it('need a SigV4 request', async () => {
      expect(await codeOf(async () => bodyOf([], plainHeaders, '', 'sig_v2'))).toBe('400 InvalidRequest');
    });
  });

  function sha256(data: Buffer): string {
    return hash('sha256', data, 'hex');
  }

  describe('an unsigned trailer', () => {
    const headers = {
      'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
      'x-amz-decoded-content-length': '11',
      'x-amz-trailer': 'x-amz-checksum-crc32',
      'transfer-encoding': 'chunked',
    };
    const framed = (end: string) => [Buffer.from(`b\r\nhello world\r\n0\r\n${end}`)];

    it.each([
      'x-amz-checksum-crc32:DUoRhQ==\r\n\r\n',
      'x-amz-checksum-crc32:DUoRhQ==\r\n',
      'x-amz-checksum-crc32:DUoRhQ==\n\r\n\r\n\r\n',
      'X-Amz-Checksum-CRC32: DUoRhQ== \n',
    ])('is read whatever ends its lines: %j', async (end) => {
      const { content, verified } = await read(bodyOf(framed(end), headers));
      expect(content.toString()).toBe('hello world');
      expect(verified).toEqual({ 'x-amz-checksum-crc32': 'DUoRhQ==' });
    });

    it.each([
      ['x-amz-checksum-crc32:AAAAAA==\r\n', {}, '400 BadDigest'],
      ['', {}, '400 MalformedTrailerError'],
      ['x-amz-checksum-crc32c:yZRlqg==\r\n', {}, '400 MalformedTrailerError'],
      ['x-amz-checksum-crc32:zz\r\n', {}, '400 InvalidRequest'],
      ['x-amz-checksum-crc32:DUoRhQ==\r\n', { 'x-amz-decoded-content-length': '12' }, '400 IncompleteBody'],
      ['x-amz-checksum-crc32:DUoRhQ==\r\n', { 'x-amz-decoded-content-length': '10' }, '400 IncompleteBody'],
      [
        'x-amz-checksum-crc32:DUoRhQ==\r\n',
        { 'x-amz-decoded-content-length': '' },
        '411 MissingContentLength',
      ],
      ['x-amz-checksum-crc32:DUoRhQ==\r\n', { 'x-amz-decoded-content-length': '-1' }, '400 InvalidArgument'],
      ['x-amz-checksum-crc32:DUoRhQ==\r\n', { 'x-amz-trailer': 'x-amz-nonsense' }, '400 InvalidRequest'],
      ['x-amz-checksum-crc32:DUoRhQ==\r\n', { 'x-amz-checksum-crc32': 'DUoRhQ==' }, '400 InvalidRequest'],
      [
        'x-amz-checksum-xxhash3:AAAAAAAAAAA=\r\n',
        { 'x-amz-trailer': 'x-amz-checksum-xxhash3' },
        '400 BadDigest',
      ],
      ['x-amz-checksum-crc32:DUoRhQ==\r\n'.repeat(1000), {}, '400 IncompleteBody'],
    ])('ending in %j with %j is %s', async (end, change, code) => {
      expect(await codeOf(() => read(bodyOf(framed(end), { ...headers, ...change })))).toBe(code);
    });

    it('may be left out when none was announced', async () => {
      const { 'x-amz-trailer': _, ...rest } = headers;
      expect((await read(bodyOf(framed('\r\n'), rest))).content.toString()).toBe('hello world');
      const { 'x-amz-decoded-content-length': __, ...unknown } = rest;
      expect((await read(bodyOf(framed('\r\n'), unknown))).content.toString()).toBe('hello world');
    });
  });

  describe('hostile framing', () => {
    const headers = { 'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' };
    it.each([
      ['', '400 IncompleteBody'],
      ['5\r\nhel', '400 IncompleteBody'],
      ['5\r\nhello', '400 IncompleteBody'],
      ['5\r\nhello\r\n', '400 IncompleteBody'],
      ['5\r\nhello world\r\n0\r\n\r\n', '400 IncompleteBody'],
      ['xyz\r\nhello\r\n0\r\n\r\n', '400 IncompleteBody'],
      ['-5\r\nhello\r\n0\r\n\r\n', '400 IncompleteBody'],
      ['ffffffffffffffff\r\nhello', '400 IncompleteBody'],
      ['11111111111111111\r\n', '400 IncompleteBody'],
      [`5;x=${'y'.repeat(5000)}\r\nhello`, '400 IncompleteBody'],
      ['0\r\nno colon here\r\n', '400 MalformedTrailerError'],
      ['5;unknown=1;other\r\nhello\r\n0\r\n\r\n', 'ok'],
      ['5\nhello\n0\n', 'ok'],
    ])('%j is %s', async (text, code) => {
      expect(await codeOf(() => read(bodyOf([Buffer.from(text)], headers)))).toBe(code);
      expect(await codeOf(() => read(bodyOf(cut(Buffer.from(text), 1), headers)))).toBe(code);
    });
  });

  describe('checksums of a plain body', () => {
    const hello = Buffer.from('hello world');
    const known = {
      crc32: 'DUoRhQ==',
      crc32c: 'yZRlqg==',
      crc64nvme: 'jSnVw/bqjr4=',
      sha1: 'Kq5sNclPz7QV2+lfQIuc6R7oRu0=',
      sha256: 'uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek=',
      md5: 'XrY7u+Ae7tCTyyK7j1rNww==',
    };

    it.each(Object.entries(known))('%s is verified as header and as trailer', async (algorithm, value) => {
      const header = `x-amz-checksum-${algorithm}`;
      const wrong = Buffer.from(value, 'base64').map((byte) => byte ^ 1);
      const wrongText = Buffer.from(wrong).toString('base64');
      const plain = (text: string) => bodyOf([hello], { 'content-length': '11', [header]: text });
      expect((await read(plain(value))).verified).toEqual({ [header]: value });
      expect(await codeOf(() => read(plain(wrongText)))).toBe('400 BadDigest');
      expect(await codeOf(async () => plain('short'))).toBe('400 InvalidRequest');
      const trailing = (text: string) =>
        bodyOf([Buffer.from(`b\r\nhello world\r\n0\r\n${header}:${text}\r\n\r\n`)], {
          'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
          'x-amz-trailer': header,
        });
      expect((await read(trailing(value))).verified).toEqual({ [header]: value });
      expect(await codeOf(() => read(trailing(wrongText)))).toBe('400 BadDigest');
    });

    it.each([
      [{ 'content-md5': 'XrY7u+Ae7tCTyyK7j1rNww==' }, 'ok'],
      [{ 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' }, '400 BadDigest'],
      [{ 'content-md5': 'nonsense' }, '400 InvalidDigest'],
      [{ 'x-amz-content-sha256': 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9' }, 'ok'],
      [{ 'x-amz-content-sha256': 'a'.repeat(64) }, '400 XAmzContentSHA256Mismatch'],
      [{ 'x-amz-content-sha256': 'unsigned-payload' }, 'ok'],
      [{ 'x-amz-content-sha256': 'nonsense' }, '400 InvalidArgument'],
      [{ 'x-amz-content-sha256': 'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD' }, '501 NotImplemented'],
      [{ 'x-amz-checksum-crc32': 'DUoRhQ==', 'x-amz-checksum-crc32c': 'yZRlqg==' }, '400 InvalidRequest'],
      [{ 'x-amz-checksum-xxhash64': 'AAAAAAAAAAA=' }, '400 BadDigest'],
      [
        { 'x-amz-checksum-algorithm': 'CRC32', 'x-amz-checksum-mode': 'enabled', 'x-amz-checksum-type': 'x' },
        'ok',
      ],
    ])('%j is %s', async (headers, code) => {
      expect(await codeOf(() => read(bodyOf([hello], { 'content-length': '11', ...headers })))).toBe(code);
    });
  });
});

describe('the shared memory', () => {
  const headers = { 'content-length': '5' };

  it('is held by a collected body until its request ends', async () => {
    room = 5;
    expect(await bodyOf([Buffer.from('12345')], headers).open()).toEqual(Buffer.from('12345'));
    expect(room).toBe(0);
    memory.release();
    expect(room).toBe(5);
  });

  it('is not waited for: a small object streams where there is none left', async () => {
    room = 4;
    const opened = await bodyOf([Buffer.from('12345')], headers).open();
    if (Buffer.isBuffer(opened)) throw new Error('expected a stream');
    expect(opened.stream.readableHighWaterMark).toBe(64 * 1024);
    expect(Buffer.concat(await opened.stream.toArray())).toEqual(Buffer.from('12345'));
    expect(room).toBe(4);
  });

  it('is needed for a document, whose client is told to slow down', async () => {
    room = 4;
    await expect(bodyOf([Buffer.from('12345')], headers).readDocument(100)).rejects.toMatchObject({
      code: 'SlowDown',
    });
    // Without a length it may become as long as it is allowed to.
    const chunked = bodyOf([Buffer.from('1')], { 'transfer-encoding': 'chunked' });
    await expect(chunked.readDocument(100)).rejects.toMatchObject({ code: 'SlowDown' });
  });

  it('is not used up by how finely a body is cut', async () => {
    const pieces = Array.from({ length: 5000 }, () => Buffer.from('x'));
    expect(await bodyOf(pieces, { 'content-length': '5000' }).open()).toEqual(Buffer.alloc(5000, 'x'));
  });
});

describe('a streamed body', () => {
  it('holds its source back while nobody reads', async () => {
    const source = new PassThrough({ highWaterMark: 64 * 1024 });
    const body = new RequestBody({
      message: source as unknown as IncomingMessage,
      request: s3RequestOf('PUT', '/r/main/x', { 'transfer-encoding': 'chunked' }),
      authenticated: {
        identity: { user, method: 'sig_v4' },
        forwardedHost: undefined,
        chunkSigner: undefined,
        payloadHash: undefined,
        presigned: false,
      },
      checksumIsOfBody: true,
      memory,
      beforeRead: () => {},
    });
    const opened = await body.open();
    if (Buffer.isBuffer(opened)) throw new Error('expected a stream');
    opened.stream.read(0);
    let written = 0;
    while (written < 64 * 1024 * 1024 && source.write(Buffer.alloc(64 * 1024))) {
      written += 64 * 1024;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(written).toBeLessThan(4 * 1024 * 1024);
    opened.stream.destroy();
    expect(source.destroyed).toBe(false);
  });

  it('fails when the client leaves', async () => {
    const source = new PassThrough();
    const gone = new RequestBody({
      message: source as unknown as IncomingMessage,
      request: s3RequestOf('PUT', '/r/main/x', { 'content-length': '5000000' }),
      authenticated: {
        identity: { user, method: 'sig_v4' },
        forwardedHost: undefined,
        chunkSigner: undefined,
        payloadHash: undefined,
        presigned: false,
      },
      checksumIsOfBody: true,
      memory,
      beforeRead: () => {},
    });
    const opened = await gone.open();
    if (Buffer.isBuffer(opened)) throw new Error('expected a stream');
    const reading = opened.stream.toArray();
    source.write('some');
    source.destroy();
    await expect(reading).rejects.toThrow('closed the connection');
    expect(gone.failure?.name).toBe('ClientGoneError');
  });
});
