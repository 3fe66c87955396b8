import { tagsOf, type ObjectTag } from '@svc/engine';
import type { Call } from '../call.ts';
import { invalidArgument } from '../errors/invalid-argument.ts';
import { S3Error } from '../errors/s3-error.ts';
import { headerText, type S3Request } from '../request/s3-request.ts';
import { childText, parseXml } from '../xml/parse.ts';
import { document, element } from '../xml/write.ts';
import { branchOf } from './write-conditions.ts';

const maxDocument = 64 * 1024;
const maxTags = 10;
const keyText = /^[\p{L}\p{N}\p{Z}+\-=._:/@]{1,128}$/u;
const valueText = /^[\p{L}\p{N}\p{Z}+\-=._:/@]{0,256}$/u;

export async function getObjectTagging(call: Call): Promise<void> {
  const { repository, ref, path } = call;
  const entry = await call.services.engine.objects.stat({ repository: repository.id, ref, path });
  const tags = tagsOf(entry.metadata)
    .map(({ key, value }) => `<Tag>${element('Key', key)}${element('Value', value)}</Tag>`)
    .join('');
  call.reply.xml(200, document('Tagging', `<TagSet>${tags}</TagSet>`));
}

export async function putObjectTagging(call: Call): Promise<void> {
  const tags = readTagging(await call.body.readDocument(maxDocument));
  await setTags(call, tags);
  call.reply.empty(200);
}

export async function deleteObjectTagging(call: Call): Promise<void> {
  await setTags(call, []);
  call.reply.empty(204);
}

async function setTags(call: Call, tags: readonly ObjectTag[]): Promise<void> {
  const branch = branchOf(call);
  await call.services.engine.objects.setTags({
    repository: call.repository.id,
    branch,
    path: call.path,
    tags,
  });
}

function readTagging(bytes: Buffer): ObjectTag[] {
  const tags: ObjectTag[] = [];
  const sets = parseXml(bytes, 'Tagging').children.filter(({ name }) => name === 'TagSet');
  if (sets.length !== 1) throw new S3Error('MalformedXML');
  for (const tag of sets[0]?.children ?? []) {
    const key = childText(tag, 'Key');
    if (tag.name !== 'Tag' || key === undefined) throw new S3Error('MalformedXML');
    tags.push({ key, value: childText(tag, 'Value') ?? '' });
  }
  if (new Set(tags.map(({ key }) => key)).size < tags.length)
    throw new S3Error('InvalidTag', 'Cannot provide multiple Tags with the same key');
  return checkedTags(tags);
}

/** The tags of `x-amz-tagging`, written like a query; undefined without that header. */
export function taggingHeaderOf(request: S3Request, presigned = false): ObjectTag[] | undefined {
  const text =
    headerText(request, 'x-amz-tagging') ?? (presigned ? request.query.text('x-amz-tagging') : undefined);
  if (text === undefined) return undefined;
  const malformed = (): S3Error =>
    invalidArgument(
      "The header 'x-amz-tagging' shall be encoded as UTF-8 then URLEncoded URL query parameters without tag " +
        'name duplicates.',
      'x-amz-tagging',
      text,
    );
  const decode = (raw: string): string => {
    try {
      return decodeURIComponent(raw.replaceAll('+', ' '));
    } catch {
      throw malformed();
    }
  };
  const tags = new Map<string, string>();
  for (const item of text.split('&')) {
    if (item === '') continue;
    const equals = item.indexOf('=');
    const key = decode(equals < 0 ? item : item.slice(0, equals));
    if (key === '' || tags.has(key)) throw malformed();
    tags.set(key, equals < 0 ? '' : decode(item.slice(equals + 1)));
  }
  return checkedTags([...tags].map(([key, value]) => ({ key, value })));
}

function checkedTags(tags: ObjectTag[]): ObjectTag[] {
  if (tags.length > maxTags) throw new S3Error('BadRequest', 'Object tags cannot be greater than 10');
  for (const { key, value } of tags) {
    if (!keyText.test(key))
      throw new S3Error('InvalidTag', 'The TagKey you have provided is invalid', {
        elements: [['TagKey', key]],
      });
    if (!valueText.test(value))
      throw new S3Error('InvalidTag', 'The TagValue you have provided is invalid', {
        elements: [
          ['TagKey', key],
          ['TagValue', value],
        ],
      });
  }
  return tags;
}
