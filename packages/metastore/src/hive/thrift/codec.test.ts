import { describe, expect, it } from 'vitest';
import { decodeMessage, Input } from './decode.ts';
import { encodeMessage, type ThriftMessage } from './encode.ts';
import { fieldsOf, i16, text, type ThriftFields } from './values.ts';

/** Feeds bytes in pieces of a size; undefined when the message is not complete. */
function decode(bytes: Buffer, size = bytes.length): ThriftMessage | undefined {
  const input = new Input();
  const reading = decodeMessage(input);
  for (let at = 0; at < bytes.length; at += size) {
    input.append(bytes.subarray(at, at + size));
    const step = reading.next();
    if (step.done === true) return step.value;
  }
  return undefined;
}

const fields: ThriftFields = fieldsOf({
  1: { type: 'bool', value: true },
  2: { type: 'byte', value: -1 },
  3: { type: 'double', value: 0.1 },
  4: { type: 'i16', value: -300 },
  5: { type: 'i32', value: -70_000 },
  6: { type: 'i64', value: -(2n ** 62n) },
  7: { type: 'string', value: Buffer.from([0xff, 0x00, 0xc3]) },
  8: { type: 'set', item: 'string', items: [text('ä')] },
  9: { type: 'list', item: 'struct', items: [{ type: 'struct', fields: fieldsOf({ 3: text('x') }) }] },
  10: {
    type: 'map',
    key: 'list',
    item: 'string',
    entries: [[{ type: 'list', item: 'string', items: [text('a')] }, text('b')]],
  },
  32_767: { type: 'map', key: 'string', item: 'string', entries: [] },
});

describe('the binary protocol', () => {
  it('is on the wire as its specification says', () => {
    const bytes = encodeMessage({
      type: 1,
      name: 'get',
      sequence: 7,
      fields: fieldsOf({ 1: text('db'), 3: i16(-1) }),
    });
    // Version and type, name, sequence; field 1 string; field 3 i16; stop.
    const expected = '80010001 00000003 676574 00000007 0b 0001 00000002 6462 06 0003 ffff 00';
    expect(bytes.toString('hex')).toBe(expected.replaceAll(' ', ''));
  });

  it.each([1, 3, 7, 10_000])('reads every type back from pieces of %i bytes', (size) => {
    const message = { type: 2, name: 'any', sequence: 1, fields };
    expect(decode(encodeMessage(message), size)).toEqual(message);
  });

  it('waits for what is missing', () => {
    const bytes = encodeMessage({ type: 2, name: 'any', sequence: 1, fields });
    expect(decode(bytes.subarray(0, -1))).toBeUndefined();
  });

  it.each([
    [
      'an HTTP server',
      Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'),
      /not Thrift.*address of a Hive metastore/,
    ],
    ['a length below zero', Buffer.from('80010002ffffffff', 'hex'), /-1 bytes/],
    [
      'an unknown type',
      Buffer.from('800100020000000000000001050001', 'hex'),
      /a type that Thrift does not have/,
    ],
    [
      'endless nesting',
      Buffer.concat([
        Buffer.from('800100020000000000000001', 'hex'),
        Buffer.alloc(300, Buffer.from('0c0001', 'hex')),
      ]),
      /nested too deeply/,
    ],
  ])('refuses %s', (_what, bytes, message) => {
    expect(() => decode(bytes)).toThrow(message);
  });
});
