import { sigV4Encode } from '@svc/encoding';
import { loadDigests } from '@svc/engine';
import { isChecksum, isChecksumAlgorithm, type Checksum } from '../body/checksums.ts';
import { keyOf, type Call } from '../call.ts';
import { invalidArgument } from '../errors/invalid-argument.ts';
import { S3Error } from '../errors/s3-error.ts';
import { unquote } from '../request/conditions.ts';
import { headerText } from '../request/s3-request.ts';
import { childText, parseXml, type XmlElement } from '../xml/parse.ts';
import { document, element } from '../xml/write.ts';
import { quotedEtag } from './entry-headers.ts';
import { completedChecksumOf, completedMetadata, type ListedPart } from './multipart-checksums.ts';
import { uploadTargetOf } from './multipart-target.ts';
import { checksumElements, entryChecksum } from './object-checksum.ts';
import { writeConditionOf } from './write-conditions.ts';

const maxDocument = 2 * 1024 * 1024;

export async function completeMultipartUpload(call: Call): Promise<void> {
  const { uploads } = call.services.engine;
  const target = uploadTargetOf(call);
  const condition = writeConditionOf(call.request);
  const expectedSize = expectedSizeOf(call);
  completedChecksumOf(call.request);
  const parts = readParts(await call.body.readDocument(maxDocument));
  await loadDigests(parts.flatMap((part) => part.checksum?.algorithm ?? []));
  const entry = await uploads.complete({
    ...target,
    ...condition,
    parts,
    expectedSize,
    describe: (upload, stored) => completedMetadata(call.request, parts, upload, stored),
  });
  call.record.bytesIn = entry.size;
  call.reply.xml(
    200,
    document(
      'CompleteMultipartUploadResult',
      element('Location', locationOf(call)) +
        element('Bucket', call.bucket) +
        element('Key', keyOf(call)) +
        element('ETag', quotedEtag(entry.etag)) +
        checksumElements(entryChecksum(entry), true),
    ),
  );
}

function readParts(bytes: Buffer): ListedPart[] {
  const parts: ListedPart[] = [];
  for (const child of parseXml(bytes, 'CompleteMultipartUpload').children) {
    if (child.name !== 'Part') continue;
    const number = (childText(child, 'PartNumber') ?? '').trim();
    const etag = childText(child, 'ETag');
    if (!/^-?\d{1,9}$/.test(number) || etag === undefined) throw new S3Error('MalformedXML');
    if (Number(number) < 1) throw invalidArgument('PartNumber must be >= 1', 'PartNumber', number);
    parts.push({ partNumber: Number(number), etag: unquote(etag), checksum: listedChecksum(child) });
  }
  if (parts.length === 0) throw new S3Error('MalformedXML');
  for (let i = 1; i < parts.length; i++)
    if ((parts[i]?.partNumber ?? 0) <= (parts[i - 1]?.partNumber ?? 0)) throw new S3Error('InvalidPartOrder');
  return parts;
}

/** The checksum of a part: at most one. */
function listedChecksum(part: XmlElement): Checksum | undefined {
  const found: Checksum[] = [];
  let isValid = true;
  for (const { name, text } of part.children) {
    const algorithm = /^Checksum([A-Z0-9]+)$/.exec(name)?.[1]?.toLowerCase();
    if (algorithm === undefined || !isChecksumAlgorithm(algorithm)) continue;
    isValid &&= isChecksum(algorithm, text);
    found.push({ algorithm, value: text });
  }
  const [only] = found;
  if (found.length <= 1 && isValid) return only;
  throw invalidArgument(
    'Invalid Base64 or multiple checksums present in request',
    'Checksum',
    found.length === 1
      ? (only?.value ?? '')
      : found.map(({ algorithm, value }) => `${algorithm.toUpperCase()}:${value};`).join(''),
  );
}

function expectedSizeOf(call: Call): number | undefined {
  const text = headerText(call.request, 'x-amz-mp-object-size');
  if (text === undefined) return undefined;
  if (/^-\d+$/.test(text))
    throw new S3Error('InvalidRequest', `Value for x-amz-mp-object-size header is less than zero: '${text}'`);
  if (!/^\d{1,15}$/.test(text))
    throw new S3Error('InvalidRequest', `Value for x-amz-mp-object-size header is invalid: '${text}'`);
  return Number(text);
}

function locationOf(call: Call): string {
  const { headers, encrypted } = call.request;
  const secure =
    encrypted || headers.get('x-forwarded-proto') === 'https' || headers.get('x-forwarded-ssl') === 'on';
  const key = sigV4Encode(keyOf(call), 'keep');
  return `${secure ? 'https' : 'http'}://${call.host}/${call.virtualHost ? '' : `${call.bucket}/`}${key}`;
}
