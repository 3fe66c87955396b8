import { describe, expect, it } from 'vitest';
import { ChunkedFrame, SizedFrame, type BodyFrame } from './body-frame.ts';

function read(frame: BodyFrame, pieces: readonly string[]): { text: string; ended: boolean } {
  let text = '';
  let ended = false;
  for (const piece of pieces) {
    expect(ended).toBe(false);
    ended = frame.feed(Buffer.from(piece), (bytes) => (text += bytes.toString()));
  }
  return { text, ended };
}

describe('a body in chunks', () => {
  const whole = '5;name=value\r\nhello\r\n1\r\n \r\nA\r\n0123456789\r\n0\r\ntrailer: x\r\n\r\n';

  it.each([1, 2, 3, 7, 1000])('is found in pieces of %i bytes', (size) => {
    const pieces = whole.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    expect(read(new ChunkedFrame(), pieces)).toEqual({ text: 'hello 0123456789', ended: true });
  });

  it('has not ended before its last line', () => {
    expect(read(new ChunkedFrame(), [whole.slice(0, -2)])).toEqual({
      text: 'hello 0123456789',
      ended: false,
    });
  });

  it.each(['zz\r\n', '\r\n', '2\r\nabc\r\n', '0\r\n\r\nmore', `1${'0'.repeat(20_000)}`])(
    'is refused when it cannot be: %j',
    (text) => {
      expect(() => read(new ChunkedFrame(), [text])).toThrow(/chunk|more/);
    },
  );
});

describe('a body of a known size', () => {
  it('ends with its last byte and takes no more', () => {
    expect(read(new SizedFrame(5), ['he', 'llo'])).toEqual({ text: 'hello', ended: true });
    expect(() => read(new SizedFrame(2), ['abc'])).toThrow('more came');
  });
});
