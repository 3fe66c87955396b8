import type { ListedObject, ObjectPage } from '@svc/engine';
import { AddressWriter } from './address-writer.ts';
import { JsonWriter } from './json-writer.ts';
import { defaultContentType } from './object.ts';

const quotedDefaultContentType = JSON.stringify(defaultContentType);

/**
 * The JSON of a page of objects, copied from the page's bytes: a page of a thousand entries is the hottest answer
 * of the API, and decoding each field to a string only to encode it again costs three times as much.
 */
export function objectListJson(
  page: ObjectPage,
  withMetadata: boolean,
  mayRead: ((path: string) => boolean) | undefined,
): Buffer {
  const json = new JsonWriter(256 + page.count * 320);
  json.raw('{"pagination":{"has_more":');
  json.raw(page.hasMore ? 'true' : 'false');
  json.raw(',"next_offset":');
  json.string(page.hasMore ? page.nextOffset : '');
  json.raw(',"results":');
  json.integer(page.count);
  json.raw(',"max_per_page":1000},"results":[');
  const addresses = new AddressWriter();
  let first = true;
  page.visit((item) => {
    if (first) first = false;
    else json.raw(',');
    json.raw('{"path":');
    json.text(item.bytes, item.keyStart, item.keyEnd);
    if (item.kind === 'common_prefix') {
      json.raw(',"path_type":"common_prefix","physical_address":"","checksum":"","mtime":0}');
      return;
    }
    writeObject(json, addresses, item, withMetadata, mayRead);
  });
  json.raw(']}');
  return json.finish();
}

function writeObject(
  json: JsonWriter,
  addresses: AddressWriter,
  item: ListedObject,
  withMetadata: boolean,
  mayRead: ((path: string) => boolean) | undefined,
): void {
  json.raw(',"path_type":"object","physical_address":');
  const presigned = mayRead !== undefined && mayRead(item.path) ? item.presigned : undefined;
  if (presigned === undefined) addresses.write(json, item);
  else {
    json.string(presigned.url);
    json.raw(',"physical_address_expiry":');
    json.integer(Math.floor(presigned.expiry.getTime() / 1000));
  }
  const { bytes } = item;
  json.raw(',"checksum":');
  json.text(bytes, item.etagStart, item.etagEnd);
  json.raw(',"size_bytes":');
  json.integer(item.size);
  json.raw(',"mtime":');
  json.integer(item.mtime.seconds);
  json.raw(',"content_type":');
  if (item.contentTypeEnd > item.contentTypeStart) {
    json.text(bytes, item.contentTypeStart, item.contentTypeEnd);
  } else json.raw(quotedDefaultContentType);
  if (withMetadata) {
    const { metadata } = item;
    for (const _key in metadata) {
      json.raw(',"metadata":');
      json.value(metadata);
      break;
    }
  }
  json.raw('}');
}
