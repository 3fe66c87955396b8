import { partsOf, storageClassOf, type ObjectEntry } from '@svc/engine';
import type { Call } from '../call.ts';
import { invalidArgument } from '../errors/invalid-argument.ts';
import { S3Error } from '../errors/s3-error.ts';
import { headerText } from '../request/s3-request.ts';
import { document, element } from '../xml/write.ts';
import { httpTime } from './entry-headers.ts';
import { readIntegerText } from './integer-parameter.ts';
import { checksumElements, entryChecksum } from './object-checksum.ts';

const known: ReadonlySet<string> = new Set(['ETag', 'Checksum', 'ObjectParts', 'StorageClass', 'ObjectSize']);
const maxPage = 1000;

export async function getObjectAttributes(call: Call): Promise<void> {
  const { repository, ref, path } = call;
  const version = call.request.query.text('versionId');
  if (version !== undefined && version !== 'null') throw new S3Error('NoSuchVersion');
  const wanted = attributesOf(call);
  const entry = await call.services.engine.objects.stat({ repository: repository.id, ref, path });
  const checksum = entryChecksum(entry);
  let content = '';
  if (wanted.has('ETag')) content += element('ETag', entry.etag);
  if (wanted.has('Checksum') && checksum !== undefined)
    content += `<Checksum>${checksumElements(checksum, true)}</Checksum>`;
  if (wanted.has('ObjectParts')) content += partsElement(call, entry);
  if (wanted.has('StorageClass')) content += element('StorageClass', storageClassOf(entry.metadata));
  if (wanted.has('ObjectSize')) content += element('ObjectSize', entry.size);
  call.reply.xml(200, document('GetObjectAttributesResponse', content), {
    'Last-Modified': httpTime(entry.mtime),
  });
}

function attributesOf(call: Call): ReadonlySet<string> {
  const text = headerText(call.request, 'x-amz-object-attributes') ?? '';
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0)
    throw new S3Error(
      'InvalidRequest',
      'The x-amz-object-attributes header specifying the attributes to be retrieved is either missing or empty',
    );
  for (const name of names)
    if (!known.has(name))
      throw invalidArgument('Invalid attribute name specified.', 'x-amz-object-attributes', name);
  return new Set(names);
}

/** Only an object that was uploaded in parts has some; single parts are listed where their checksums are kept. */
function partsElement(call: Call, entry: ObjectEntry): string {
  const parts = partsOf(entry.metadata, entry.size);
  if (parts === undefined) return '';
  const limit = { min: 0, max: 2_147_483_647 };
  const asked = headerText(call.request, 'x-amz-max-parts');
  const after = headerText(call.request, 'x-amz-part-number-marker');
  const amount = asked === undefined ? maxPage : readIntegerText('x-amz-max-parts', asked, limit);
  const marker = after === undefined ? 0 : readIntegerText('x-amz-part-number-marker', after, limit);
  const page = Math.min(amount, maxPage);
  const { algorithm } = parts;
  const count = parts.sizes.length;
  let listed = '';
  let last = marker;
  for (const value of parts.checksums.slice(marker, marker + page)) {
    last += 1;
    const checksum =
      algorithm === undefined ? '' : checksumElements({ algorithm, value, type: 'FULL_OBJECT' }, false);
    const size = element('Size', parts.sizes[last - 1]);
    listed += `<Part>${element('PartNumber', last)}${size}${checksum}</Part>`;
  }
  return (
    `<ObjectParts>${element('PartsCount', count)}${element('PartNumberMarker', marker)}` +
    `${element('NextPartNumberMarker', last)}${element('MaxParts', page)}` +
    `${element('IsTruncated', algorithm !== undefined && last < count)}${listed}</ObjectParts>`
  );
}
