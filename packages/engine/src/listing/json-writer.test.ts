import { expect, test } from 'vitest';
import { JsonWriter } from './json-writer.ts';

const texts = [
  '',
  'plain/key.txt',
  'quote " and \\ backslash',
  'line\nbreak\u0000\u001f',
  'é\u{1F600}\uFF5E',
  '\u2028\u007f',
  'x'.repeat(5000),
];

test('bytes and strings are written as the ordinary serialiser would, however small the buffer began', () => {
  for (const text of texts) {
    const json = new JsonWriter(1);
    const bytes = Buffer.from(`<${text}>`);
    json.raw('[');
    json.text(bytes, 1, bytes.length - 1);
    json.raw(',');
    json.string(text);
    json.raw(',');
    json.integer(-12);
    json.raw(',');
    json.value({ text });
    json.raw(']');
    expect(JSON.parse(json.take().toString())).toEqual([text, text, -12, { text }]);
  }
});
