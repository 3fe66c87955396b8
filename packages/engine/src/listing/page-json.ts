import type { PageJson, PageJsonOptions } from '../face/objects.ts';
import { userMetadata } from '../objects/reserved-metadata.ts';
import { defaultContentType } from '../objects/upload-object.ts';
import type { ItemCursor } from './item-cursor.ts';
import { JsonWriter } from './json-writer.ts';
import { ListingKernel } from './listing-kernel.ts';
import type { ShownFolder } from './shown-folder.ts';
import { SpareBodies } from './spare-bodies.ts';

const spareBodies = new SpareBodies(8 * 1024 * 1024);

const quotedDefaultContentType = JSON.stringify(defaultContentType);

/** Larger pages, by what they hold beside the listed fields, are not copied for the kernel. */
const maxKernelBytes = 1024 * 1024;

/**
 * The JSON of a page's items, copied from the page's bytes. A page of a thousand entries is the hottest answer, and
 * decoding each field only to encode it again costs several times as much. The kernel writes plain objects, this file
 * everything else.
 */
export function pageJson(
  bytes: Buffer,
  eachItem: (visitor: (item: ItemCursor) => void) => void,
  options: PageJsonOptions,
): PageJson {
  const { withMetadata } = options;
  const kernel = bytes.length > 0 && bytes.length <= maxKernelBytes ? ListingKernel.take(bytes) : undefined;
  const json = new JsonWriter(1024);
  json.ready(options.before);
  json.raw('[');
  let folder: ShownFolder | undefined;
  let first = true;
  eachItem((item) => {
    if (
      kernel !== undefined &&
      folder !== undefined &&
      item.kind === 'object' &&
      item.addressTypeNumber === folder.type &&
      item.presigned === undefined &&
      !(withMetadata && item.hasMetadata) &&
      kernel.object(item)
    )
      return;
    if (!first) json.raw(',');
    first = false;
    writeItem(json, item, options);
    if (kernel === undefined) return;
    kernel.append(json.take());
    if (item.folder === folder) return;
    folder = item.folder;
    if (folder !== undefined) kernel.setFolder(folder);
  });
  json.raw(']');
  json.ready(options.after);
  if (kernel === undefined) return { body: json.take(), release: () => undefined };
  kernel.append(json.take());
  const body = kernel.finish(spareBodies.take);
  return { body, release: () => spareBodies.give(body) };
}

function writeItem(json: JsonWriter, item: ItemCursor, options: PageJsonOptions): void {
  const { bytes } = item;
  json.raw('{"path":');
  json.text(bytes, item.keyStart, item.keyEnd);
  if (item.kind === 'common_prefix') {
    json.raw(',"path_type":"common_prefix","physical_address":"","checksum":"","mtime":0}');
    return;
  }
  json.raw(',"path_type":"object","physical_address":');
  const presigned = options.mayRead?.(item.path) === true ? item.presigned : undefined;
  if (presigned === undefined) writeAddress(json, item);
  else {
    json.string(presigned.url);
    json.raw(',"physical_address_expiry":');
    json.integer(Math.floor(presigned.expiry.getTime() / 1000));
  }
  json.raw(',"checksum":');
  json.text(bytes, item.etagStart, item.etagEnd);
  json.raw(',"size_bytes":');
  json.integer(item.size);
  json.raw(',"mtime":');
  json.integer(item.seconds);
  json.raw(',"content_type":');
  if (item.contentTypeEnd > item.contentTypeStart) {
    json.text(bytes, item.contentTypeStart, item.contentTypeEnd);
  } else json.raw(quotedDefaultContentType);
  const metadata = options.withMetadata && item.hasMetadata ? userMetadata(item.metadata) : {};
  if (Object.keys(metadata).length > 0) {
    json.raw(',"metadata":');
    json.value(metadata);
  }
  json.raw('}');
}

function writeAddress(json: JsonWriter, item: ItemCursor): void {
  const folder = item.folder?.json;
  const name = folder === undefined ? 0 : item.nameInFolder;
  if (folder === undefined || name === 0) json.string(item.physicalAddress);
  else json.twoTexts(folder, item.bytes, name, item.addressEnd);
}
