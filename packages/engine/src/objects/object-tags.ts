import type { StringMap } from '@svc/encoding';

const tagPrefix = '::svc::tag:';
const keyText = /^.{1,128}$/su;
const valueText = /^.{0,256}$/su;

export interface ObjectTag {
  readonly key: string;
  readonly value: string;
}

export function isTagKey(key: string): boolean {
  return key.startsWith(tagPrefix);
}

/** Whether a reserved key and its value are a tag. */
export function isTag(key: string, value: string): boolean {
  return isTagKey(key) && keyText.test(key.slice(tagPrefix.length)) && valueText.test(value);
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
