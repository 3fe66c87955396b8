import {
  moveIdText,
  moveKinds,
  moveOfAlias,
  moveOfBranch,
  moveOfRepository,
  moveOfTag,
  type EventData,
  type MoveData,
  timeOfMicros,
  moveTime,
} from '@svc/encoding';

/** What must be readable for an event to be shown. */
export interface EventScope {
  readonly kind:
    | 'repository'
    | 'branch'
    | 'tag'
    | 'pull'
    | 'alias'
    | 'user'
    | 'group'
    | 'policy'
    | 'subscription';
  /** Absent for what belongs to no repository. */
  readonly repository?: string | undefined;
  /** Of the branch, tag, user, …; empty where the repository is all there is. */
  readonly name: string;
}

/** A CloudEvent. */
export interface CloudEvent {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject?: string | undefined;
  readonly time: string;
  readonly datacontenttype: 'application/json';
  readonly sequence: string;
  readonly svcinstallation: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Every type there is, without the leading `svc.`, by what it is about. */
const eventNames = {
  repository: ['created', 'deleted', 'restored', 'purged'],
  protection: ['changed'],
  branch: ['created', 'moved', 'reset', 'deleted'],
  tag: ['created', 'deleted'],
  pull: ['created', 'edited', 'closed', 'reopened', 'merged'],
  task: ['finished'],
  alias: ['created', 'changed', 'deleted'],
  user: ['created', 'updated', 'deleted', 'attached', 'detached'],
  credentials: ['created', 'deleted'],
  group: ['created', 'updated', 'deleted', 'attached', 'detached', 'member_added', 'member_removed'],
  policy: ['created', 'updated', 'deleted'],
  subscription: ['disabled', 'test'],
} as const;

export const eventTypes: readonly string[] = Object.entries(eventNames).flatMap(([about, names]) =>
  names.map((name) => `svc.${about}.${name}`),
);

const gravelerPartition = 'graveler';
const authPartition = 'auth';
const eventsPartition = 'events';
/** `-` and an xid. */
const instanceSuffix = 21;

/** The repository an event is of; undefined for what belongs to none. */
export function repositoryOf(event: EventData): string | undefined {
  const { partition, move } = event;
  if (partition === authPartition || partition === eventsPartition) return undefined;
  if (partition !== gravelerPartition) return partition.slice(0, -instanceSuffix);
  return move?.refType === moveOfRepository ? move.refId : undefined;
}

/** The event that a move is. Undefined for moves that nobody is told of. */
export function eventOfMove(id: Buffer, partition: string, move: MoveData): EventData | undefined {
  const named = namesOf(move);
  if (named === undefined) return undefined;
  return {
    id,
    type: named.type,
    partition,
    subject: named.subject,
    time: timeOfMicros(moveTime(id)),
    user: move.user,
    data: Buffer.alloc(0),
    move,
  };
}

function namesOf(move: MoveData): { type: string; subject: string } | undefined {
  const kind = moveKinds[move.kind];
  switch (move.refType) {
    case moveOfBranch:
    case moveOfTag: {
      const about = move.refType === moveOfBranch ? 'branch' : 'tag';
      const subject = `${about}/${move.refId}`;
      if (move.new.length === 0) return { type: `svc.${about}.deleted`, subject };
      const isMoved = about === 'branch' && move.old.length > 0;
      return { type: `svc.${about}.${isMoved ? 'moved' : 'created'}`, subject };
    }
    case moveOfRepository: {
      const names: Partial<Record<string, string>> = {
        delete: 'deleted',
        undelete: 'restored',
        purge: 'purged',
      };
      return { type: `svc.repository.${names[kind ?? ''] ?? 'created'}`, subject: '' };
    }
    case moveOfAlias: {
      const names: Partial<Record<string, string>> = { create: 'created', delete: 'deleted' };
      return { type: `svc.alias.${names[kind ?? ''] ?? 'changed'}`, subject: `alias/${move.refId}` };
    }
    default:
      return undefined;
  }
}

export function scopeOf(event: EventData): EventScope {
  const repository = repositoryOf(event);
  const slash = event.subject.indexOf('/');
  const about = event.subject.slice(0, Math.max(0, slash));
  const name = event.subject.slice(slash + 1);
  if (repository !== undefined) {
    if (about === 'branch' || about === 'tag') return { kind: about, repository, name };
    return { kind: about === 'pull' ? 'pull' : 'repository', repository, name: '' };
  }
  switch (about) {
    case 'alias':
    case 'user':
    case 'group':
    case 'policy':
      return { kind: about, name };
    default: {
      const owner = dataOf(event)['repository'];
      return { kind: 'subscription', ...(typeof owner === 'string' && { repository: owner }), name };
    }
  }
}

export function isHidden(event: EventData): boolean {
  return event.move?.hidden === true;
}

/** The text of a sequence number, so long that texts sort as numbers do. */
export function sequenceText(sequence: number): string {
  return String(sequence).padStart(20, '0');
}

export function cloudEvent(event: EventData, sequence: number, installationId: string): CloudEvent {
  const repository = repositoryOf(event);
  return {
    specversion: '1.0',
    id: moveIdText(event.id),
    source: repository === undefined ? '/' : `/repositories/${repository}`,
    type: event.type,
    ...(event.subject === '' ? {} : { subject: event.subject }),
    time: timeText(event.time),
    datacontenttype: 'application/json',
    sequence: sequenceText(sequence),
    svcinstallation: installationId,
    data: { ...(event.move === undefined ? dataOf(event) : moveData(event.move)), user: event.user },
  };
}

const refTypes = ['branch', 'tag', 'repository', 'alias', 'view'];

function moveData(move: MoveData): Record<string, unknown> {
  return {
    kind: moveKinds[move.kind] ?? 'set',
    ref_type: refTypes[move.refType] ?? '',
    ref_id: move.refId,
    ...(move.old.length > 0 && { old_commit_id: move.old.toString('hex') }),
    ...(move.new.length > 0 && { new_commit_id: move.new.toString('hex') }),
    ...(move.source !== '' && { source: move.source }),
    ...(move.hidden && { hidden: true }),
    ...(move.requestId.length > 0 && { request_id: move.requestId.toString() }),
  };
}

function dataOf(event: EventData): Record<string, unknown> {
  return event.data.length === 0 ? {} : (JSON.parse(event.data.toString()) as Record<string, unknown>);
}

/** RFC 3339 with microseconds. */
export function timeText({ seconds, nanos }: EventData['time']): string {
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  return `${whole}.${String(Math.floor(nanos / 1000)).padStart(6, '0')}Z`;
}
