import { bytesBody, createMemAdapter, smallObjectSize } from '@svc/block';
import { beforeEach, expect, test } from 'vitest';
import type { ObjectEntry } from '../face/objects.ts';
import { SmallObjects } from './small-objects.ts';

const store = createMemAdapter({});
let objects: SmallObjects;

let now = 1;

beforeEach(() => {
  objects = new SmallObjects(() => now);
});

function entryOf(name: string, content: string, more: Partial<ObjectEntry> = {}): ObjectEntry {
  return {
    path: name,
    physicalAddress: `mem://repository/data/${name}`,
    address: `data/${name}`,
    addressType: 'relative',
    etag: `etag of ${content.slice(0, 20)}`,
    size: content.length,
    mtime: { seconds: 0, nanos: 0 },
    contentType: '',
    metadata: {},
    ...more,
  };
}

function readTwice(entry: ObjectEntry, content: string): void {
  for (let time = 0; time < 2; time++) objects.read(store, entry, bytesBody(Buffer.from(content)));
}

const found = (entry: ObjectEntry): string | undefined => objects.find(store, entry)?.bytes?.toString();

test('keeps what is read a second time', () => {
  const entry = entryOf('a', 'content');
  expect(found(entry)).toBeUndefined();
  objects.read(store, entry, bytesBody(Buffer.from('content')));
  expect(found(entry)).toBeUndefined();
  objects.read(store, entry, bytesBody(Buffer.from('content')));
  expect(found(entry)).toBe('content');
  expect(found(entryOf('b', 'content'))).toBeUndefined();
});

test('keeps a copy: whoever read the object first may use its memory again', () => {
  const entry = entryOf('a', 'content');
  const bytes = Buffer.from('content');
  objects.read(store, entry, bytesBody(bytes));
  objects.read(store, entry, bytesBody(bytes));
  bytes.fill(0);
  expect(found(entry)).toBe('content');
});

test('another checksum, size or store under the same address is another object', () => {
  const entry = entryOf('a', 'content');
  readTwice(entry, 'content');
  expect(found({ ...entry, etag: 'another' })).toBeUndefined();
  expect(found({ ...entry, size: 3 })).toBeUndefined();
  expect(objects.find(createMemAdapter({}), entry)).toBeUndefined();
  expect(found(entry)).toBe('content');
});

test('never keeps what others may change, what is large, or what is not as long as its entry says', () => {
  const large = 'x'.repeat(smallObjectSize + 1);
  for (const [entry, content] of [
    [entryOf('full', 'content', { addressType: 'full' }), 'content'],
    [entryOf('prefix', 'content', { addressType: 'by_prefix' }), 'content'],
    [entryOf('large', large), large],
    [entryOf('cut', 'content'), 'conten'],
  ] as const) {
    readTwice(entry, content);
    expect(found(entry), entry.path).toBeUndefined();
  }
  const largest = large.slice(1);
  readTwice(entryOf('largest', largest), largest);
  expect(found(entryOf('largest', largest))).toBe(largest);
});

test('forgets after half a minute, so that what is gone from the store does not stay', () => {
  const entry = entryOf('a', 'content');
  readTwice(entry, 'content');
  now += 29_999;
  expect(found(entry)).toBe('content');
  now += 2;
  expect(found(entry)).toBeUndefined();
});

test('holds eight MiB, and those used last', () => {
  const content = 'x'.repeat(60_000);
  const names = Array.from({ length: 300 }, (_, i) => `object-${i}`);
  for (const name of names) {
    readTwice(entryOf(name, content), content);
    expect(found(entryOf('object-0', content)), name).toBe(content);
  }
  const kept = names.filter((name) => found(entryOf(name, content)) !== undefined);
  expect(kept.length).toBe(Math.floor((8 * 1024 * 1024) / (60_000 + 512)));
  expect(kept.at(-1)).toBe('object-299');
});
