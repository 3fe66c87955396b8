import { moveIdText, moveOfBranch, type EventData, type SubscriptionData } from '@svc/encoding';
import { repositoryOf, timeText } from '../event.ts';
import type { Message } from './messages.ts';

/** An object that a move of a branch brought, changed or took away. */
export interface ObjectChange {
  readonly type: 'written' | 'removed';
  readonly path: string;
  readonly size: number;
  readonly etag: string;
}

/** What differs between two commits, in order of paths. */
export type ChangesBetween = (repository: string, from: string, to: string) => AsyncIterable<ObjectChange>;

/** It is tried again, as when the receiver fails. */
export class UnreadableChanges extends Error {
  override readonly name = 'UnreadableChanges';
}

const recordsPerMessage = 100;
const mostObjects = 10_000;

/** The objects that a move of a branch changed, told as S3 tells of them. Other events change no object. */
export async function* s3Messages(
  subscription: Pick<SubscriptionData, 'id' | 'owner'>,
  event: EventData,
  sequence: number,
  changesBetween: ChangesBetween,
): AsyncGenerator<Message> {
  const { move } = event;
  const repository = repositoryOf(event);
  if (event.type === 'svc.subscription.test') yield testMessage(event);
  if (repository === undefined || move?.refType !== moveOfBranch) return;
  if (move.old.length === 0 || move.new.length === 0) return;
  const commits = { old_commit_id: move.old.toString('hex'), new_commit_id: move.new.toString('hex') };
  const record = (eventName: string, object?: object): object => ({
    eventVersion: '2.1',
    eventSource: 'aws:s3',
    awsRegion: 'us-east-1',
    eventTime: timeText(event.time),
    eventName,
    userIdentity: { principalId: event.user },
    s3: {
      s3SchemaVersion: '1.0',
      configurationId: subscription.id,
      bucket: {
        name: repository,
        ownerIdentity: { principalId: subscription.owner },
        arn: `arn:aws:s3:::${repository}`,
      },
      ...(object !== undefined && { object }),
    },
    ...(object === undefined && { svc: commits }),
  });
  const id = moveIdText(event.id);
  const sequencer = sequence.toString(16).toUpperCase().padStart(16, '0');
  let records: object[] = [];
  let messages = 0;
  const flush = (): Message => {
    const body = JSON.stringify({ Records: records });
    records = [];
    messages += 1;
    return { id: `${id}.${messages}`, contentType: 'application/json', body };
  };
  let objects = 0;
  const changes = changesBetween(repository, commits.old_commit_id, commits.new_commit_id);
  for await (const change of readable(changes)) {
    if (objects === mostObjects) {
      records.push(record('svc:Truncated'));
      break;
    }
    objects += 1;
    const key = keyText(`${move.refId}/${change.path}`);
    const isWritten = change.type === 'written';
    records.push(
      record(isWritten ? 'ObjectCreated:Put' : 'ObjectRemoved:Delete', {
        key,
        ...(isWritten && { size: change.size, eTag: change.etag }),
        sequencer,
      }),
    );
    if (records.length === recordsPerMessage) yield flush();
  }
  if (records.length > 0) yield flush();
}

async function* readable(changes: AsyncIterable<ObjectChange>): AsyncGenerator<ObjectChange> {
  try {
    yield* changes;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UnreadableChanges(`what changed in the branch cannot be read: ${reason}`, { cause: error });
  }
}

/** What S3 sends when a notification is set up. */
function testMessage(event: EventData): Message {
  const body = { Service: 'Amazon S3', Event: 's3:TestEvent', Time: timeText(event.time), Bucket: '' };
  return { id: moveIdText(event.id), contentType: 'application/json', body: JSON.stringify(body) };
}

/** As in a form: receivers of S3 decode keys so. */
function keyText(key: string): string {
  return new URLSearchParams([['', key]]).toString().slice(1).replaceAll('%2F', '/');
}
