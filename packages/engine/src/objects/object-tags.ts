import type { StringMap } from '@svc/encoding';

const tagPrefix = '::svc::tag:';
/** A high and a low surrogate are one character to S3, as to everybody else. */
const maxKeyCharacters = 128;
const maxValueCharacters = 256;

export interface ObjectTag {
  readonly key: string;
  readonly value: string;
}

export function isTagKey(key: string): boolean {
  return key.startsWith(tagPrefix);
}

/** Whether a reserved key and its value are a tag. */
export function isTag(key: string, value: string): boolean {
  const name = isTagKey(key) ? [...key.slice(tagPrefix.length)] : [];
  return name.length > 0 && name.length <= maxKeyCharacters && [...value].length <= maxValueCharacters;
}

/** Tags as they are stored in an entry's metadata. */
export function tagMap(tags: readonly ObjectTag[]): StringMap {
  const map = Object.create(null) as Record<string, string>;
  for (const { key, value } of tags) map[tagPrefix + key] = value;
  return map;
}

export function tagsOf(metadata: StringMap): ObjectTag[] {
  const tags: ObjectTag[] = [];
  for (const key in metadata) {
    const value = metadata[key] ?? '';
    if (isTag(key, value)) tags.push({ key: key.slice(tagPrefix.length), value });
  }
  return tags;
}
