import {
  moveKey,
  moveKinds,
  moveMessage,
  newMoveId,
  outboxKey,
  outboxPut,
  XidGenerator,
  type EventData,
  type MoveKind,
} from '@svc/encoding';
import type { KvStore } from '@svc/kv';
import { EventLog, type EventSource } from '../src/index.ts';

const xids = new XidGenerator();
const none = Buffer.alloc(0);

export const silent = { debug() {}, info() {}, warn() {}, error() {} };

export function partitionOf(repository: string): string {
  return `${repository}-c0000000000000000000`;
}

/** What happened, in the order of each ref: `repository/ref` to the texts of its commits. */
export type History = Map<string, string[]>;

/** Moves refs as the engine does: the ref, its record and its entry in the outbox in one change. */
export class Writer {
  readonly history: History = new Map();
  readonly #kv: KvStore;
  #now = 1_700_000_000_000;

  constructor(kv: KvStore) {
    this.#kv = kv;
  }

  async move(
    repository: string,
    ref: string,
    options: { readonly kind?: MoveKind; readonly hidden?: boolean; readonly user?: string } = {},
  ): Promise<void> {
    const partition = Buffer.from(partitionOf(repository));
    const name = `${repository}/${ref}`;
    const texts = this.history.get(name) ?? [];
    this.history.set(name, texts);
    this.#now += 1;
    const id = newMoveId(this.#now, undefined, xids);
    const text = String(texts.length + 1);
    const key = Buffer.from(`branches/${ref}`);
    const record = moveMessage.encode({
      kind: moveKinds.indexOf(options.kind ?? 'commit'),
      refType: 0,
      refId: ref,
      old: texts.length === 0 ? none : Buffer.from(texts.at(-1) ?? ''),
      new: options.kind === 'delete' ? none : Buffer.from(text),
      user: options.user ?? 'anna',
      source: '',
      prev: none,
      jump: none,
      depth: 1,
      jumpDepth: 0,
      lossy: false,
      hidden: options.hidden === true,
      requestId: none,
      retiredTokens: [`${name}:${text}`],
      binding: undefined,
      oldBinding: undefined,
    });
    await this.#kv.change(partition, { key, condition: 'any' }, [
      { type: 'put', key, value: Buffer.from(text) },
      { type: 'put', key: moveKey(id), value: record },
      { type: 'put', key: outboxKey(id), value: none },
    ]);
    texts.push(text);
  }

  async tell(
    partition: string,
    type: string,
    subject: string,
    data?: Record<string, unknown>,
  ): Promise<void> {
    this.#now += 1;
    const put = outboxPut({ type, subject, user: 'anna', data }, this.#now, xids);
    await this.#kv.change(Buffer.from(partition), { key: put.key, condition: 'any' }, [put]);
  }
}

export interface TestSource extends EventSource {
  readonly retired: string[];
}

export function sourceOf(repositories: readonly string[]): TestSource {
  const retired: string[] = [];
  return {
    retired,
    async *partitions() {
      yield* ['graveler', 'auth', ...repositories.map(partitionOf)].map((name) => Buffer.from(name));
    },
    isThere: () => Promise.resolve(true),
    async retireTokens(tokens) {
      retired.push(...tokens);
    },
  };
}

/** The whole log, which must have neither gap nor repetition. */
export async function readLog(kv: KvStore): Promise<EventData[]> {
  const log = new EventLog(kv);
  const { next } = await log.tail();
  const events: EventData[] = [];
  for (let sequence = 1; sequence < next; sequence += 1) {
    const segment = await log.segmentWith(sequence);
    const event = segment?.events[sequence - segment.first];
    if (event === undefined) throw new Error(`event ${sequence} of ${next - 1} is missing`);
    events.push(event);
  }
  return events;
}

/** The log as a history. */
export function replay(events: readonly EventData[]): History {
  const history: History = new Map();
  for (const { partition, move } of events) {
    if (move === undefined) continue;
    const name = `${partition.slice(0, -21)}/${move.refId}`;
    history.set(name, [...(history.get(name) ?? []), move.new.toString()]);
  }
  return history;
}
