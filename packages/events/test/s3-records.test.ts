import { moveKinds, newMoveId, timeOfMicros, XidGenerator, type EventData } from '@svc/encoding';
import { expect, test } from 'vitest';
import { s3Messages, UnreadableChanges, type ObjectChange } from '../src/subscriptions/s3-records.ts';
import { partitionOf } from './moves.ts';

const none = Buffer.alloc(0);
const [before, after] = ['11'.repeat(32), '22'.repeat(32)];

function moved(change: { readonly old?: Buffer; readonly refType?: number } = {}): EventData {
  return {
    id: newMoveId(1_700_000_000_000, undefined, new XidGenerator()),
    type: 'svc.branch.moved',
    partition: partitionOf('lake'),
    subject: 'branch/main',
    time: timeOfMicros(1_700_000_000_000_000),
    user: 'anna',
    data: none,
    move: {
      kind: moveKinds.indexOf('commit'),
      refType: 0,
      refId: 'main',
      old: Buffer.from(before, 'hex'),
      new: Buffer.from(after, 'hex'),
      user: 'anna',
      source: '',
      prev: none,
      jump: none,
      depth: 1,
      jumpDepth: 0,
      lossy: false,
      hidden: false,
      requestId: none,
      retiredTokens: [],
      binding: undefined,
      oldBinding: undefined,
      ...change,
    },
  };
}

function written(count: number): ObjectChange[] {
  return Array.from({ length: count }, (_, index) => ({
    type: 'written',
    path: `f${index}`,
    size: index,
    etag: `e${index}`,
  }));
}

async function messages(event: EventData, changes: readonly ObjectChange[]) {
  const asked: string[][] = [];
  const sent: { id: string; records: Record<string, unknown>[] }[] = [];
  const between = async function* (...args: string[]): AsyncGenerator<ObjectChange> {
    asked.push(args);
    yield* changes;
  };
  for await (const { id, body } of s3Messages({ id: 'sub', owner: 'bert' }, event, 26, between)) {
    sent.push({ id, records: (JSON.parse(body) as { Records: Record<string, unknown>[] }).Records });
  }
  return { asked, sent };
}

test('a move of a branch is what it wrote and removed, as S3 tells of it', async () => {
  const { asked, sent } = await messages(moved(), [
    { type: 'written', path: 'tables/ä b+c.csv', size: 5, etag: 'abc' },
    { type: 'removed', path: 'old', size: 9, etag: 'def' },
  ]);
  expect(asked).toEqual([['lake', before, after]]);
  expect(sent).toHaveLength(1);
  const [put, removed] = sent[0]?.records ?? [];
  expect(put).toEqual({
    eventVersion: '2.1',
    eventSource: 'aws:s3',
    awsRegion: 'us-east-1',
    eventTime: '2023-11-14T22:13:20.000000Z',
    eventName: 'ObjectCreated:Put',
    userIdentity: { principalId: 'anna' },
    s3: {
      s3SchemaVersion: '1.0',
      configurationId: 'sub',
      bucket: { name: 'lake', ownerIdentity: { principalId: 'bert' }, arn: 'arn:aws:s3:::lake' },
      object: { key: 'main/tables/%C3%A4+b%2Bc.csv', size: 5, eTag: 'abc', sequencer: '000000000000001A' },
    },
  });
  expect(removed).toMatchObject({
    eventName: 'ObjectRemoved:Delete',
    s3: { object: { key: 'main/old', sequencer: '000000000000001A' } },
  });
  expect(JSON.stringify(removed)).not.toContain('def');
});

test('many objects are several messages with ids of their own, too many are cut', async () => {
  const exact = await messages(moved(), written(200));
  expect(exact.sent.map(({ records }) => records.length)).toEqual([100, 100]);
  expect(new Set(exact.sent.map(({ id }) => id)).size).toBe(2);
  const full = await messages(moved(), written(10_000));
  expect(full.sent).toHaveLength(100);
  const cut = await messages(moved(), written(10_001));
  expect(cut.sent).toHaveLength(101);
  expect(cut.sent.at(-1)?.records).toMatchObject([
    { eventName: 'svc:Truncated', svc: { old_commit_id: before, new_commit_id: after } },
  ]);
});

test('nothing is sent of events that change no object', async () => {
  for (const event of [moved({ old: none }), moved({ refType: 1 }), { ...moved(), move: undefined }]) {
    expect(await messages(event, written(1))).toEqual({ asked: [], sent: [] });
  }
  expect((await messages(moved(), [])).sent).toEqual([]);
});

test('changes that cannot be read are a failure that can be tried again', async () => {
  const broken = async function* (): AsyncGenerator<ObjectChange> {
    yield* written(1);
    await Promise.reject(new Error('the store is away'));
  };
  const reading = s3Messages({ id: 'sub', owner: 'bert' }, moved(), 1, broken);
  await expect(reading.next()).rejects.toThrow(UnreadableChanges);
});
