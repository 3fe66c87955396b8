import {
  branchMessage,
  graveMessage,
  moveKinds,
  moveMessage,
  tagMessage,
  type MoveData,
} from '@svc/encoding';
import { createMemStore, type KvStore, type MemState } from '@svc/kv';
import { expect } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { moveIdOfKey } from '../src/store/keys.ts';

export interface LoggedMove {
  readonly id: string;
  readonly data: MoveData;
}

export interface RecordedRefs {
  /** `b/main` to its commit. */
  readonly refs: Map<string, string>;
  readonly lastMoves: Map<string, string>;
  /** Oldest first. */
  readonly moves: readonly LoggedMove[];
  readonly outbox: readonly string[];
  readonly graves: Map<string, string>;
}

/** Everything the store has about the refs of a repository. */
export async function readRecords(
  state: MemState,
  engine: Engine,
  repository: string,
): Promise<RecordedRefs> {
  const { instanceUid } = await engine.repositories.get(repository);
  return readPartition(createMemStore(state), Buffer.from(`${repository}-${instanceUid}`));
}

export async function readPartition(kv: KvStore, partition: Buffer): Promise<RecordedRefs> {
  const refs = new Map<string, string>();
  const lastMoves = new Map<string, string>();
  const graves = new Map<string, string>();
  const moves: LoggedMove[] = [];
  const outbox: string[] = [];
  for await (const page of kv.scan(partition)) {
    for (const { key, value } of page) {
      const name = key.toString('latin1');
      const ref = name.startsWith('branches/')
        ? { name: `b/${name.slice(9)}`, ...branchMessage.decode(value) }
        : name.startsWith('tags/')
          ? { name: `t/${name.slice(5)}`, ...tagMessage.decode(value) }
          : undefined;
      if (ref !== undefined) {
        refs.set(ref.name, ref.commitId);
        lastMoves.set(ref.name, ref.lastMove.toString('hex'));
      } else if (name.startsWith('graves/')) {
        graves.set(name.slice(7), graveMessage.decode(value).lastMove.toString('hex'));
      } else if (name.startsWith('moves/')) {
        moves.unshift({ id: moveIdOfKey(key).toString('hex'), data: moveMessage.decode(value) });
      } else if (name.startsWith('outbox/') && value.length === 0) {
        outbox.push(key.subarray(7).toString('hex'));
      }
    }
  }
  return { refs, lastMoves, graves, moves, outbox };
}

/** As if everything that happened had been put into the log of events. */
export async function emptyOutbox(state: MemState, engine: Engine, repository: string): Promise<void> {
  const { instanceUid } = await engine.repositories.get(repository);
  const partition = Buffer.from(`${repository}-${instanceUid}`);
  const kv = createMemStore(state);
  for await (const page of kv.scan(partition, { prefix: Buffer.from('outbox/') })) {
    await kv.deleteMany(
      partition,
      page.map(({ key }) => key),
    );
  }
}

/** Replays the log from nothing; it must meet the refs exactly, each record where the one before it ended. */
export function expectExactLog(recorded: RecordedRefs): void {
  const { moves } = recorded;
  const byId = new Map(moves.map((move) => [move.id, move.data]));
  const state = new Map<string, string>();
  const last = new Map<string, string>();
  for (const { id, data } of moves) {
    const name = nameOf(data);
    const at = `${id} ${moveKinds[data.kind]} ${name}`;
    expect([at, data.old.toString('hex')]).toEqual([at, state.get(name) ?? '']);
    expect([at, data.prev.toString('hex')]).toEqual([at, last.get(name) ?? '']);
    const before = byId.get(data.prev.toString('hex'));
    expect([at, data.depth]).toEqual([at, (before?.depth ?? 0) + 1]);
    if (data.jump.length > 0)
      expect([at, byId.get(data.jump.toString('hex'))?.depth]).toEqual([at, data.jumpDepth]);
    if (data.new.length === 0) state.delete(name);
    else state.set(name, data.new.toString('hex'));
    last.set(name, id);
  }
  expect(state).toEqual(recorded.refs);
  for (const [name, move] of recorded.lastMoves) expect([name, move]).toEqual([name, last.get(name)]);
  for (const [name, id] of last) {
    if (state.has(name)) expect([name, recorded.graves.has(name)]).toEqual([name, false]);
    else expect([name, recorded.graves.get(name)]).toEqual([name, id]);
  }
  expect(recorded.outbox).toEqual(moves.map(({ id }) => id));
}

export function nameOf(data: MoveData): string {
  return `${data.refType === 0 ? 'b' : 't'}/${data.refId}`;
}
