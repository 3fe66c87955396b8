import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { s3RequestOf } from '../../test/s3-request-of.ts';
import { decodeWords, encodeWords } from './encoded-words.ts';
import { addMetadataHeaders, describeObject } from './object-metadata.ts';

describe('encoded words', () => {
  it.each([
    ['plain text', 'plain text'],
    ['=?utf-8?q?=D7=A9=D7=9C=D7=95=D7=9D?=', 'שלום'],
    ['=?UTF-8?B?16nXnNeV150=?=', 'שלום'],
    ['=?iso-8859-1?Q?caf=E9_au_lait?=', 'café au lait'],
    ['=?utf-8?q?a?= =?utf-8?q?b?=', 'ab'],
    ['x =?utf-8?q?a?= y', 'x a y'],
    ['=?utf-8?q?=ZZ?=', '=?utf-8?q?=ZZ?='],
    ['=?utf-8?x?abc?=', '=?utf-8?x?abc?='],
    ['=?utf-8?q?unfinished', '=?utf-8?q?unfinished'],
  ])('%s is read as %s', (text, value) => {
    expect(decodeWords(text)).toBe(value);
  });

  it('refuses a charset nobody knows', () => {
    expect(() => decodeWords('=?klingon?q?x?=')).toThrow('unknown charset "klingon"');
  });

  it('are at most 75 characters long, split between characters, and read back the same', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const value = `é${text}`;
        const encoded = encodeWords(value);
        for (const word of encoded.split(' ')) expect(word).toMatch(/^=\?utf-8\?q\?[!-~]{0,63}\?=$/);
        expect(decodeWords(encoded)).toBe(value);
      }),
    );
  });

  it('leave printable ASCII alone', () => {
    expect(encodeWords('a b\tc ~!')).toBe('a b\tc ~!');
    expect(encodeWords('שלום')).toBe('=?utf-8?q?=D7=A9=D7=9C=D7=95=D7=9D?=');
  });
});

describe('describeObject', () => {
  const describe1 = (headers: Record<string, string>, target = '/r/b/k', presigned = false) =>
    describeObject(s3RequestOf('PUT', target, headers), presigned);

  it('stores user metadata under its API name and reads UTF-8 bytes', () => {
    const { metadata } = describe1({
      'x-amz-meta-FOO': Buffer.from('שלום').toString('latin1'),
      'x-amz-meta-two-words': 'x',
    });
    expect({ ...metadata }).toEqual({ 'X-Amz-Meta-foo': 'שלום', 'X-Amz-Meta-two-words': 'x' });
  });

  it('counts 2048 bytes of names and values', () => {
    expect(() =>
      describe1({ 'x-amz-meta-abc': 'x'.repeat(2045), 'cache-control': 'y'.repeat(999) }),
    ).not.toThrow();
    expect(() => describe1({ 'x-amz-meta-abc': 'x'.repeat(2046) })).toThrow('metadata size');
  });

  it('keeps system headers apart and drops the framing from Content-Encoding', () => {
    const { metadata, contentType, storageClass } = describe1({
      'content-encoding': 'aws-chunked, gzip',
      'cache-control': 'max-age=1',
      'content-type': 'text/plain',
      'x-amz-storage-class': 'STANDARD_IA',
    });
    expect(contentType).toBe('text/plain');
    expect(storageClass).toBe('STANDARD_IA');
    const headers: Record<string, string> = {};
    addMetadataHeaders(metadata, headers);
    expect(headers).toEqual({ 'Content-Encoding': 'gzip', 'Cache-Control': 'max-age=1' });
    expect({ ...describe1({ 'content-encoding': 'aws-chunked' }).metadata }).toEqual({});
  });

  it('takes metadata from the query of a presigned request only', () => {
    const target = '/r/b/k?x-amz-meta-a=1&x-amz-storage-class=GLACIER&x-amz-checksum-crc32=AAAAAA%3D%3D';
    expect({ ...describe1({}, target, true).metadata }).toEqual({
      'X-Amz-Meta-a': '1',
      '::svc::storage-class': 'GLACIER',
    });
    expect(describe1({}, target, true).storageClass).toBe('GLACIER');
    expect({ ...describe1({}, target, false).metadata }).toEqual({});
  });

  it('shows only what was stored by the gateway, in lower case, and counts what cannot be a header', () => {
    const headers: Record<string, string> = {};
    addMetadataHeaders({ 'X-Amz-Meta-Foo': 'a', 'X-Amz-Meta-not a token': 'b', other: 'c' }, headers);
    expect(headers).toEqual({ 'x-amz-meta-foo': 'a', 'x-amz-missing-meta': '1' });
  });

  it('never lets a stored value break out of its header', () => {
    const headers: Record<string, string> = {};
    addMetadataHeaders({ '::svc::Cache-Control': 'a\r\nSet-Cookie: x', 'X-Amz-Meta-a': 'b\r\nc' }, headers);
    expect(headers['Cache-Control']).toBeUndefined();
    expect(headers['x-amz-meta-a']).toBe('=?utf-8?q?b=0D=0Ac?=');
  });
});
