import { sigV4Encode } from '@svc/encoding';
import type { Call } from '../call.ts';
import { S3Error } from '../errors/s3-error.ts';
import { unquote } from '../request/conditions.ts';
import { headerText } from '../request/s3-request.ts';
import { childText, parseXml } from '../xml/parse.ts';
import { document, element } from '../xml/write.ts';
import { quotedEtag } from './entry-headers.ts';
import { uploadTargetOf } from './multipart-target.ts';
import { writeConditionOf } from './write-conditions.ts';

const maxDocument = 2 * 1024 * 1024;

export async function completeMultipartUpload(call: Call): Promise<void> {
  const { uploads } = call.services.engine;
  const target = uploadTargetOf(call);
  const condition = writeConditionOf(call.request);
  const expectedSize = expectedSizeOf(call);
  const parts = readParts(await call.body.readDocument(maxDocument));
  const entry = await uploads.complete({ ...target, ...condition, parts, expectedSize });
  call.record.bytesIn = entry.size;
  call.reply.xml(
    200,
    document(
      'CompleteMultipartUploadResult',
      element('Location', locationOf(call)) +
        element('Bucket', call.repository.id) +
        element('Key', `${target.branch}/${target.path}`) +
        element('ETag', quotedEtag(entry.etag)),
    ),
  );
}

interface ListedPart {
  readonly partNumber: number;
  readonly etag: string;
}

function readParts(bytes: Buffer): ListedPart[] {
  const parts: ListedPart[] = [];
  for (const child of parseXml(bytes, 'CompleteMultipartUpload').children) {
    if (child.name !== 'Part') continue;
    const number = (childText(child, 'PartNumber') ?? '').trim();
    const etag = childText(child, 'ETag');
    if (!/^\d{1,9}$/.test(number) || etag === undefined) throw new S3Error('MalformedXML');
    parts.push({ partNumber: Number(number), etag: unquote(etag) });
  }
  if (parts.length === 0) throw new S3Error('MalformedXML');
  for (let i = 1; i < parts.length; i++)
    if ((parts[i]?.partNumber ?? 0) <= (parts[i - 1]?.partNumber ?? 0)) throw new S3Error('InvalidPartOrder');
  return parts;
}

function expectedSizeOf(call: Call): number | undefined {
  const text = headerText(call.request, 'x-amz-mp-object-size');
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text))
    throw new S3Error('InvalidRequest', 'Value for x-amz-mp-object-size header is invalid.');
  return Number(text);
}

function locationOf(call: Call): string {
  const { headers, encrypted } = call.request;
  const secure =
    encrypted || headers.get('x-forwarded-proto') === 'https' || headers.get('x-forwarded-ssl') === 'on';
  const key = sigV4Encode(`${call.ref}/${call.path}`, 'keep');
  return `${secure ? 'https' : 'http'}://${call.host}/${call.virtualHost ? '' : `${call.repository.id}/`}${key}`;
}
