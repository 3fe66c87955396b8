import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { S3Error } from '../errors/s3-error.ts';
import { childText, parseXml } from './parse.ts';
import { document, element, escapeXml } from './write.ts';

describe('request documents', () => {
  const parse = (text: string) => parseXml(Buffer.from(text), 'Delete');

  it.each([
    '<Delete><Object><Key>a</Key></Object></Delete>',
    '\ufeff<?xml version="1.0" encoding="UTF-8"?>\n<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Object><Key>a</Key></Object></Delete>',
    '<s3:Delete xmlns:s3="x"><s3:Object><s3:Key>a</s3:Key></s3:Object></s3:Delete>',
    '<Delete><Object><Key><![CDATA[a]]></Key></Object></Delete>',
  ])('are read: %s', (text) => {
    const [object] = parse(text).children;
    expect(object?.name).toBe('Object');
    expect(childText(object!, 'Key')).toBe('a');
  });

  it('decode references', () => {
    expect(childText(parse('<Delete><Key>a&#10;&amp;&#x1F600;b</Key></Delete>'), 'Key')).toBe('a\n&😀b');
  });

  it.each([
    '',
    'text',
    '<Other></Other>',
    '<Delete>',
    '<Delete></Other>',
    '<!DOCTYPE Delete [<!ENTITY a "b">]><Delete>&a;</Delete>',
    '<Delete>&unknown;</Delete>',
    '<Delete/><Delete/>',
    '<a>'.repeat(100),
  ])('are refused: %s', (text) => {
    expect(() => parse(text)).toThrow(S3Error);
  });

  it('must be UTF-8', () => {
    expect(() => parseXml(Buffer.from([0x3c, 0xff]), 'Delete')).toThrow('well-formed');
  });
});

describe('answers', () => {
  it('escape what XML needs and what it cannot hold', () => {
    expect(escapeXml(`a&b<c>"d"'e'`)).toBe('a&amp;b&lt;c&gt;&quot;d&quot;&apos;e&apos;');
    expect(escapeXml('\u0001\r\n\t\u007f\uffff')).toBe('&#x1;&#xD;\n\t\u007f&#xFFFF;');
    expect(element('A', undefined)).toBe('');
    expect(document('A', element('B', 1))).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n<A xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><B>1</B></A>',
    );
  });

  it('read back what XML can hold', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const bytes = Buffer.from(document('R', element('T', text)));
        expect(childText(parseXml(bytes, 'R'), 'T')).toBe(text);
      }),
    );
  });
});
