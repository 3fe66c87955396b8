import { describe, expect, it } from 'vitest';
import type { BlockstoreType, IdentifierType } from './adapter.ts';
import { canonicalBucketUri, parseStorageUri, resolveBucketObject, resolveWalk } from './address.ts';

const resolveAs = (
  type: BlockstoreType,
  storageNamespace: string,
  identifier: string,
  identifierType: IdentifierType,
) => resolveBucketObject(type, { storageNamespace, identifier, identifierType });

describe('address resolution', () => {
  it('appends relative keys as they are', () => {
    const table: [namespace: string, key: string, bucket: string, resolved: string][] = [
      ['gs://foo/bla', '/bar', 'foo', 'bla//bar'],
      ['gs://foo/bla', 'bar', 'foo', 'bla/bar'],
      ['gs://foo/bla/', 'bar/baz', 'foo', 'bla/bar/baz'],
      ['gs://foo', 'bar', 'foo', 'bar'],
      ['gs://foo/', '/bar', 'foo', '/bar'],
      ['gs://foo/a/b', 's3://x/y', 'foo', 'a/b/s3://x/y'],
      ['gs://foo/bla', 'a?b#c%20d', 'foo', 'bla/a?b#c%20d'],
    ];
    for (const [namespace, key, bucket, resolved] of table) {
      expect(resolveAs('gs', namespace, key, 'relative')).toEqual({ bucket, key: resolved });
    }
  });

  it('keeps full addresses verbatim', () => {
    expect(resolveAs('s3', 's3://other', 's3://example/bar/foo%3Abaz', 'full')).toEqual({
      bucket: 'example',
      key: 'bar/foo%3Abaz',
    });
    expect(resolveAs('s3', 's3://other', 's3://example//x?y#z', 'full')).toEqual({
      bucket: 'example',
      key: '/x?y#z',
    });
    expect(resolveAs('mem', 'mem://other', 'memory://b/k', 'full')).toEqual({ bucket: 'b', key: 'k' });
  });

  it('reads old addresses as full when they are', () => {
    expect(resolveAs('s3', 's3://ns', 's3://b/k', 'unknown')).toEqual({ bucket: 'b', key: 'k' });
    expect(resolveAs('s3', 's3://ns/p', 'b/k', 'unknown')).toEqual({ bucket: 'ns', key: 'p/b/k' });
    expect(resolveAs('s3', 's3://ns/p', 'odd://b/k', 'unknown')).toEqual({
      bucket: 'ns',
      key: 'p/odd://b/k',
    });
  });

  it('refuses what names no object of the store', () => {
    for (const identifier of ['gs://b/k', 's3://b', 's3://b/', 's3:///k', 'b/k', 'ftp://b/k', '']) {
      expect(() => resolveAs('s3', 's3://ns', identifier, 'full'), identifier).toThrow(
        expect.objectContaining({ kind: 'invalid_address' }),
      );
    }
    for (const namespace of ['gs://ns', 's3://', 's3:///x', 'ns', '']) {
      expect(() => resolveAs('s3', namespace, 'k', 'relative'), namespace).toThrow(
        expect.objectContaining({ kind: 'invalid_namespace' }),
      );
    }
    expect(() => resolveAs('s3', 's3://ns', '', 'relative')).toThrow(
      expect.objectContaining({ kind: 'invalid_address' }),
    );
  });

  it('knows the schemes', () => {
    expect(parseStorageUri('https://account.blob.core.windows.net/c/k')?.type).toBe('azure');
    expect(parseStorageUri('S3://b/k')).toEqual({ type: 's3', host: 'b', path: '/k' });
    expect(parseStorageUri('file:///x')).toBeUndefined();
    expect(parseStorageUri('://x')).toBeUndefined();
  });

  it('spells one location one way', () => {
    expect(canonicalBucketUri('mem', 'memory://b/k/')).toBe('mem://b/k');
    expect(canonicalBucketUri('s3', 's3://b')).toBe(canonicalBucketUri('s3', 's3://b/'));
    for (const uri of [
      'S3://B/p/k',
      's3://b//p///k//',
      's3://b/./p/k/.',
      's3://b/x/../p/k',
      's3://b/../p/k',
    ]) {
      expect(canonicalBucketUri('s3', uri)).toBe('s3://b/p/k');
    }
    expect(canonicalBucketUri('s3', 's3://b/P%2Fk')).toBe('s3://b/P%2Fk');
  });

  it('counts relative keys from the last slash of a walked prefix', () => {
    expect(resolveWalk('s3', 's3://b/pref/obj')).toEqual({ bucket: 'b', key: 'pref/obj', baseLength: 5 });
    expect(resolveWalk('s3', 's3://b')).toEqual({ bucket: 'b', key: '', baseLength: 0 });
  });
});
