import { badRequest } from '../errors/iceberg-error.ts';
import { sameJson, type Json, type JsonObject } from '../json.ts';
import type { Id } from '../request/fields.ts';
import type { Snapshot, SnapshotRef, TableMetadata } from './table-metadata.ts';

/** What every append changes. */
const moving: ReadonlySet<string> = new Set([
  'last-sequence-number',
  'last-updated-ms',
  'current-snapshot-id',
  'refs',
  'snapshots',
  'snapshot-log',
  'metadata-log',
  'next-row-id',
]);

/**
 * The snapshots that a branch has added to a table, oldest first. Throws when the branch did anything but append.
 */
export function appendedSnapshots(branch: string, base: TableMetadata, now: TableMetadata): Snapshot[] {
  const refuse = (what: string): never => {
    throw badRequest(`${branch} ${what}`);
  };
  const [was, is] = [base, now] as unknown as [JsonObject, JsonObject];
  for (const name of new Set([...Object.keys(was), ...Object.keys(is)])) {
    if (!moving.has(name) && !sameJson(was[name], is[name])) refuse(`changed the ${name} of the table`);
  }
  if (!sameJson(withoutMain(base), withoutMain(now))) refuse('changed the refs of the table');
  const before = new Map(base.snapshots.map((snapshot) => [snapshot['snapshot-id'], snapshot]));
  const after = new Map(now.snapshots.map((snapshot) => [snapshot['snapshot-id'], snapshot]));
  for (const [id, snapshot] of before) {
    if (!sameJson(snapshot, after.get(id) ?? null)) refuse(`removed the snapshot ${id}`);
  }
  const added: Snapshot[] = [];
  for (let id = now['current-snapshot-id']; id !== base['current-snapshot-id'];) {
    const snapshot = id === undefined || before.has(id) ? undefined : after.get(id);
    if (snapshot === undefined || added.length > after.size) return refuse('rolled the table back');
    const operation = operationOf(snapshot);
    if (operation !== 'append') refuse(`did more than append: snapshot ${id} is of kind "${operation}"`);
    added.unshift(snapshot);
    id = parentOf(snapshot);
  }
  if (before.size + added.length !== after.size)
    refuse('has snapshots that are not part of the history of the table');
  return added;
}

export function parentOf(snapshot: Snapshot): Id | undefined {
  return (snapshot['parent-snapshot-id'] ?? undefined) as Id | undefined;
}

function operationOf({ summary }: Snapshot): string {
  const operation = (summary as JsonObject | undefined)?.['operation'];
  return typeof operation === 'string' ? operation : 'unknown';
}

/** The refs of a table without where `main` stands. */
function withoutMain({ refs }: TableMetadata): Record<string, Json> {
  const { main, ...others } = refs;
  const { 'snapshot-id': _id, ...settings }: Partial<SnapshotRef> = main ?? {
    type: 'branch',
  };
  return { ...others, main: settings };
}

const totals = [
  ['total-records', 'added-records'],
  ['total-data-files', 'added-data-files'],
  ['total-files-size', 'added-files-size'],
  ['total-delete-files', undefined],
  ['total-position-deletes', undefined],
  ['total-equality-deletes', undefined],
] as const;

/** What a snapshot says of itself when it comes after another one than it was made for. */
export function summaryAfter(parent: Snapshot | undefined, snapshot: Snapshot): JsonObject {
  const before = (parent?.['summary'] ?? {}) as JsonObject;
  const summary = { ...(snapshot['summary'] as JsonObject | undefined) };
  for (const [total, added] of totals) {
    const start = parent === undefined ? 0n : counted(before[total]);
    const more = added === undefined ? 0n : (counted(summary[added]) ?? 0n);
    if (start === undefined) delete summary[total];
    else summary[total] = String(start + more);
  }
  return summary;
}

function counted(text: Json | undefined): bigint | undefined {
  return typeof text === 'string' && /^\d{1,18}$/.test(text) ? BigInt(text) : undefined;
}
