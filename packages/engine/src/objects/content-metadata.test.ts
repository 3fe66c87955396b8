import { describe, expect, test } from 'vitest';
import { addChecksum, addParts, checksumOf, isContentMetadata, partsOf } from './content-metadata.ts';
import { checkReserved, contentMetadata, reservedMetadata, userMetadata } from './reserved-metadata.ts';

const digest = (fill: string, length = 4): string => Buffer.alloc(length, fill).toString('base64');

describe('what is kept about the bytes of an object', () => {
  test('the sizes of its parts, in runs, with their checksums', () => {
    const metadata: Record<string, string> = {};
    const parts = {
      sizes: [10, 10, 10, 7],
      algorithm: 'crc32',
      checksums: ['a', 'b', 'c', 'd'].map((each) => digest(each)),
    } as const;
    addParts(metadata, parts);
    expect(metadata['::svc::parts']).toMatch(/^10x3,7;crc32:/);
    expect(partsOf(metadata, 37)).toEqual(parts);
    // Somebody changed the object: nothing is known of its parts.
    expect(partsOf(metadata, 38)).toBeUndefined();
  });

  test('sizes alone where the checksums of all parts are too long', () => {
    const metadata: Record<string, string> = {};
    const sizes = Array.from({ length: 10_000 }, () => 5_242_880);
    addParts(metadata, { sizes, algorithm: 'sha256', checksums: sizes.map(() => digest('x', 32)) });
    expect(metadata['::svc::parts']).toBe('5242880x10000');
    expect(partsOf(metadata, 52_428_800_000)).toMatchObject({ algorithm: undefined, checksums: [] });
  });

  test.each(['1x99999999999', '1,', '-1', '1x10001', '1;crc32:', '9'.repeat(70_000)])(
    'nothing of %.20s',
    (text) => {
      expect(partsOf({ '::svc::parts': text }, 10_001)).toBeUndefined();
    },
  );

  test('a checksum and its type, which is of the whole object unless it is said', () => {
    const metadata: Record<string, string> = {};
    addChecksum(metadata, { algorithm: 'crc32', type: 'FULL_OBJECT', value: digest('a') });
    expect(Object.keys(metadata)).toEqual(['::svc::checksum-crc32']);
    expect(checksumOf(metadata)).toEqual({ algorithm: 'crc32', type: 'FULL_OBJECT', value: digest('a') });
    const composite: Record<string, string> = {};
    addChecksum(composite, { algorithm: 'sha1', type: 'COMPOSITE', value: `${digest('a', 20)}-3` });
    expect(checksumOf(composite)).toMatchObject({ type: 'COMPOSITE', value: `${digest('a', 20)}-3` });
    expect(() => checkReserved({ ...metadata, ...composite })).not.toThrow();
  });

  test('is ours alone', () => {
    const metadata = {
      'own key': 'v',
      '::svc::checksum-crc32': digest('a'),
      '::svc::tag:k': 'v',
      '::svc::other': 'x',
    };
    expect(userMetadata(metadata)).toEqual({ 'own key': 'v' });
    expect(reservedMetadata(metadata)).toEqual({ '::svc::checksum-crc32': digest('a'), '::svc::tag:k': 'v' });
    expect(contentMetadata(metadata)).toEqual({ '::svc::checksum-crc32': digest('a') });
    expect(() => checkReserved({ '::svc::other': 'x' })).toThrow("metadata key '::svc::other' is reserved");
    expect(isContentMetadata('::svc::checksum-crc32', 'no base64!')).toBe(false);
  });
});
