import type { ObjectEntry } from '@svc/engine';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { objectJson, objectView } from './object.ts';

const text = fc.string({ unit: 'binary', maxLength: 20 });
const presigned = fc.record({ url: text, expiry: fc.date({ noInvalidDate: true }), token: text });

test('an object as JSON is what its view would be', () => {
  fc.assert(
    fc.property(
      fc.record({
        path: text,
        physicalAddress: text,
        address: text,
        addressType: fc.constantFrom('relative' as const, 'full' as const),
        etag: text,
        size: fc.maxSafeNat(),
        mtime: fc.record({ seconds: fc.integer(), nanos: fc.nat(999_999_999) }),
        contentType: fc.oneof(fc.constant(''), text),
        metadata: fc.dictionary(text, text, { maxKeys: 3 }),
        presigned: fc.option(presigned, { nil: undefined, freq: 5 }),
      }),
      fc.boolean(),
      (fields, withMetadata) => {
        const entry = fields as unknown as ObjectEntry;
        const view = objectView(entry, withMetadata ? {} : { metadata: 'empty' });
        expect(objectJson(entry, withMetadata)).toBe(JSON.stringify(view));
      },
    ),
    { numRuns: 500 },
  );
});
