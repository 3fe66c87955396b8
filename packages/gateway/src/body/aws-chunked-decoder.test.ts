import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { S3Error } from '../errors/s3-error.ts';
import { AwsChunkedDecoder } from './aws-chunked-decoder.ts';

function decode(pieces: readonly Uint8Array[]): Buffer {
  const out: Buffer[] = [];
  const decoder = new AwsChunkedDecoder({
    signatures: undefined,
    trailer: true,
    onData: (data) => out.push(Buffer.from(data)),
  });
  for (const piece of pieces) decoder.write(Buffer.from(piece));
  decoder.end();
  return Buffer.concat(out);
}

function cut(body: Buffer, at: readonly number[]): Buffer[] {
  const places = [0, ...at.map((place) => place % (body.length + 1)).sort((a, b) => a - b), body.length];
  return places.slice(1).map((end, i) => body.subarray(places[i], end));
}

const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { maxLength: 8 });

describe('AwsChunkedDecoder', () => {
  it('gives back what was framed, however chunks and pieces are cut', () => {
    fc.assert(
      fc.property(
        chunks,
        fc.array(fc.nat(), { maxLength: 12 }),
        fc.boolean(),
        (data, places, lineFeedOnly) => {
          const eol = lineFeedOnly ? '\n' : '\r\n';
          const framed = Buffer.concat([
            ...data.map((chunk) =>
              Buffer.concat([Buffer.from(chunk.length.toString(16) + eol), chunk, Buffer.from(eol)]),
            ),
            Buffer.from(`0${eol}${eol}`),
          ]);
          expect(decode(cut(framed, places)).equals(Buffer.concat(data))).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('answers any bytes with content or an S3 error', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.array(fc.nat(), { maxLength: 5 }),
        (bytes, places) => {
          try {
            decode(cut(Buffer.from(bytes), places));
          } catch (error) {
            expect(error).toBeInstanceOf(S3Error);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('notices every truncation of a body', () => {
    const framed = Buffer.from('5\r\nhello\r\n6\r\n world\r\n0\r\n');
    for (let length = 0; length < framed.length; length++)
      if (length !== framed.length - 1 || framed[length] !== 0x0a)
        expect(() => decode([framed.subarray(0, length)])).toThrow('terminated unexpectedly');
  });
});
