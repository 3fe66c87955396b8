import { userMetadata, type ListedObject, type ObjectPage } from '@svc/engine';
import { AddressWriter, type ShownFolder } from './address-writer.ts';
import { JsonWriter } from './json-writer.ts';
import { ListingKernel } from './listing-kernel.ts';
import { defaultContentType } from './object.ts';
import { SpareBodies } from './spare-bodies.ts';

const spareBodies = new SpareBodies(8 * 1024 * 1024);

const quotedDefaultContentType = JSON.stringify(defaultContentType);

/** Larger pages, by what they hold beside the listed fields, are not copied for the kernel. */
const maxKernelBytes = 1024 * 1024;

/** The body is good until `release`, which is called at most once. */
export interface ObjectListJson {
  readonly body: Buffer;
  readonly release: () => void;
}

/**
 * The JSON of a page of objects, copied from the page's bytes: a page of a thousand entries is the hottest answer
 * of the API, and decoding each field to a string only to encode it again costs several times as much.
 */
export function objectListJson(
  page: ObjectPage,
  withMetadata: boolean,
  mayRead: ((path: string) => boolean) | undefined,
): ObjectListJson {
  const json = new JsonWriter(1024);
  json.raw('{"pagination":{"has_more":');
  json.raw(page.hasMore ? 'true' : 'false');
  json.raw(',"next_offset":');
  json.string(page.hasMore ? page.nextOffset : '');
  json.raw(',"results":');
  json.integer(page.count);
  json.raw(',"max_per_page":1000},"results":[');
  const addresses = new AddressWriter();
  let kernel: ListingKernel | undefined;
  let folder: ShownFolder | undefined;
  let first = true;
  page.visit((item) => {
    if (first && item.bytes.length <= maxKernelBytes) kernel = ListingKernel.take(item.bytes);
    if (
      kernel !== undefined &&
      folder !== undefined &&
      item.kind === 'object' &&
      item.addressType === folder.type &&
      item.presigned === undefined &&
      !(withMetadata && item.hasMetadata) &&
      kernel.object(item)
    )
      return;
    if (!first) json.raw(',');
    first = false;
    json.raw('{"path":');
    json.text(item.bytes, item.keyStart, item.keyEnd);
    if (item.kind === 'common_prefix')
      json.raw(',"path_type":"common_prefix","physical_address":"","checksum":"","mtime":0}');
    else writeObject(json, addresses, item, withMetadata, mayRead);
    if (kernel === undefined) return;
    kernel.append(json.take());
    if (addresses.folder === folder) return;
    folder = addresses.folder;
    if (folder !== undefined) kernel.setFolder(folder.start, folder.end, folder.shown);
  });
  json.raw(']}');
  if (kernel === undefined) return { body: json.take(), release: () => undefined };
  kernel.append(json.take());
  const body = kernel.finish(spareBodies.take);
  return { body, release: () => spareBodies.give(body) };
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
    const metadata = userMetadata(item.metadata);
    for (const _key in metadata) {
      json.raw(',"metadata":');
      json.value(metadata);
      break;
    }
  }
  json.raw('}');
}
