import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addressFull } from '@svc/encoding';
import { expect, test } from 'vitest';
import { listingSource } from '../listing-wasm.ts';
import { ListingKernel } from './listing-kernel.ts';
import { shownFolder, type ShownFolder } from './shown-folder.ts';

/** A page of one object: key, address, etag. */
function pageOf(key: string, address: string, etag: string) {
  const bytes = Buffer.from(key + address + etag);
  const [keyEnd, addressEnd] = [key.length, key.length + address.length];
  const fields = {
    keyStart: 0,
    keyEnd,
    addressStart: keyEnd,
    addressEnd,
    etagStart: addressEnd,
    etagEnd: bytes.length,
    contentTypeStart: 0,
    contentTypeEnd: 0,
    size: 7,
    seconds: 1,
  };
  return { bytes, fields };
}

/** The empty folder at a place, shown as `shown`. */
function folderAt(at: number, shown: string): ShownFolder {
  const place = { start: at, end: at, type: addressFull } as const;
  return shownFolder(place, `${shown}name`, 'name') ?? { ...place, shown, json: undefined };
}

test('writes nothing before it knows a folder, nor with one that is too long or needs escapes, nor what has no number', () => {
  const { bytes, fields } = pageOf('k', 'name', 'sum');
  const show = (shown: string) => kernel.setFolder(folderAt(fields.addressStart, shown));
  const kernel = ListingKernel.take(bytes);
  expect(kernel.object(fields)).toBe(false);
  show(`mem://${'x'.repeat(5000)}/`);
  expect(kernel.object(fields)).toBe(false);
  show('mem://"/');
  expect(kernel.object(fields)).toBe(false);
  show('mem://');
  expect(kernel.object({ ...fields, seconds: -1 })).toBe(false);
  expect(kernel.object({ ...fields, size: Number.NaN })).toBe(false);
  expect(kernel.object(fields)).toBe(true);
  expect(kernel.finish((length) => Buffer.alloc(length)).toString()).toBe(
    ',{"path":"k","path_type":"object","physical_address":"mem://name","checksum":"sum","size_bytes":7,"mtime":1,' +
      '"content_type":"application/octet-stream"}',
  );
});

test('knows no folder of the page before', () => {
  const first = pageOf('k', 'name', 'sum');
  const kernel = ListingKernel.take(first.bytes);
  kernel.setFolder(folderAt(first.fields.addressStart, 'mem://'));
  kernel.finish((length) => Buffer.alloc(length));
  expect(ListingKernel.take(first.bytes).object(first.fields)).toBe(false);
});

test('the WebAssembly is made from its source', () => {
  const source = readFileSync(join(import.meta.dirname, '../../wasm/listing.as'));
  expect(createHash('sha256').update(source).digest('hex'), 'run scripts/build-wasm.ts').toBe(listingSource);
});
