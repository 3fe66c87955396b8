import { expect, test } from 'vitest';
import { ListingKernel } from './listing-kernel.ts';

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

test('writes nothing before it knows a folder, nor with one that is too long, nor what has no number', () => {
  const { bytes, fields } = pageOf('k', 'name', 'sum');
  const kernel = ListingKernel.take(bytes);
  expect(kernel.object(fields)).toBe(false);
  kernel.setFolder(fields.addressStart, fields.addressStart, Buffer.alloc(5000, 'x'));
  expect(kernel.object(fields)).toBe(false);
  kernel.setFolder(fields.addressStart, fields.addressStart, Buffer.from('mem://'));
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
  kernel.setFolder(first.fields.addressStart, first.fields.addressStart, Buffer.from('mem://'));
  kernel.finish((length) => Buffer.alloc(length));
  expect(ListingKernel.take(first.bytes).object(first.fields)).toBe(false);
});
