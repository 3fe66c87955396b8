import type { OwnedChange } from '../../arguments.ts';
import type { ScanRange } from '../../scan-pages.ts';
import type { KvEntry } from '../../store.ts';
import { byteaArray, int8Array } from './binary-array.ts';
import type { Parameter, Query, QueryRows } from './bytes-query.ts';
import { planChange } from './change-statement.ts';
import { isCollision } from './database-error.ts';
import { GroupedCalls } from './grouped-calls.ts';
import type { RoundTrips } from './round-trips.ts';
import { statements, type Statement, type StatementName } from './statements.ts';
import type { Table } from './tables.ts';

/** More groups at once only make them smaller. */
const groupsUnderWay = 2;
const maxGroup = 200;
/** Larger pages are read one by one: answers are held in memory whole. */
const groupedPageSize = 512;
const maxPagesInGroup = 32;
const fewRows = 128;

export interface Place {
  readonly partition: Buffer;
  readonly key: Buffer;
}

export interface Put extends Place {
  readonly value: Buffer;
}

/** The first entries of a range, so many at most. */
export interface Page extends ScanRange {
  readonly partition: Buffer;
  readonly limit: number;
}

/** A write, and what is to be read when it is durable. */
interface PutThenGet {
  readonly put: Put;
  readonly table: KvTable;
  readonly place: Place;
}

/** One table of the store. What many requests ask of it at once goes there in groups. Buffers must be the caller's own. */
export class KvTable {
  readonly #table: Table;
  readonly #trips: RoundTrips;
  readonly #statements: Readonly<Record<StatementName, Statement>>;
  readonly #gets: GroupedCalls<Place, Buffer | undefined>;
  readonly #puts: GroupedCalls<Put, void>;
  readonly #putsThenGets: GroupedCalls<PutThenGet, Buffer | undefined>;
  readonly #creations: GroupedCalls<OwnedChange, boolean>;
  readonly #pages: GroupedCalls<Page, KvEntry[]>;

  constructor(table: Table, trips: RoundTrips) {
    this.#table = table;
    this.#trips = trips;
    this.#statements = statements(table);
    const group = {
      maxUnderWay: groupsUnderWay,
      maxGroup,
      mayRunAlone: isCollision,
      atEndOfTurn: (leave: () => void) => trips.atEndOfTurn(leave),
    };
    this.#gets = new GroupedCalls({ ...group, run: (calls) => this.#getEach(calls) });
    this.#puts = new GroupedCalls<Put, void>({
      ...group,
      compare: comparePlaces,
      run: (calls) => this.#setEach(calls),
    });
    this.#putsThenGets = new GroupedCalls<PutThenGet, Buffer | undefined>({
      ...group,
      compare: (a, b) => comparePlaces(a.put, b.put),
      run: (calls) => this.#setThenGetEach(calls),
    });
    this.#creations = new GroupedCalls({
      ...group,
      compare: (a, b) => comparePlaces(placeOf(a), placeOf(b)),
      run: (changes) => this.#changeEach(changes),
    });
    this.#pages = new GroupedCalls({
      ...group,
      maxGroup: maxPagesInGroup,
      run: (pages) => this.#readEach(pages),
    });
  }

  run(name: StatementName, values: readonly Parameter[]): Promise<QueryRows> {
    return this.#runOne({ statement: this.#statements[name], values });
  }

  get(place: Place): Promise<Buffer | undefined> {
    return this.#gets.call(place);
  }

  set(put: Put): Promise<void> {
    return this.#puts.call(put);
  }

  /** What `table` holds at `place` once `put` is durable. */
  setThenGet(put: Put, table: KvTable, place: Place): Promise<Buffer | undefined> {
    return this.#putsThenGets.call({ put, table, place });
  }

  readPage(page: Page): Promise<KvEntry[]> {
    return page.limit > groupedPageSize ? this.#readOne(page) : this.#pages.call(page);
  }

  change(change: OwnedChange): Promise<boolean> {
    return isCreation(change) ? this.#creations.call(change) : this.#changeOne(change);
  }

  async #getEach(calls: readonly Place[]): Promise<readonly (Buffer | undefined)[]> {
    return valuesOf(await this.#trips.read(this.#lookUp(calls)), calls.length);
  }

  async #setEach(calls: readonly Put[]): Promise<readonly void[]> {
    await this.#runOne(this.#store(calls));
    return [];
  }

  async #setThenGetEach(calls: readonly PutThenGet[]): Promise<readonly (Buffer | undefined)[]> {
    const asked = new Map<KvTable, Place[]>();
    // Whoever writes to the same staging area reads the same branch, and they come one after the other.
    const slots = calls.map(({ table, place }) => {
      const places = asked.get(table) ?? [];
      const last = places.at(-1);
      if (last === undefined) asked.set(table, places);
      if (last === undefined || comparePlaces(last, place) !== 0) places.push(place);
      return { table, at: places.length - 1 };
    });
    const reads = [...asked].map(([table, places]) => table.#lookUp(places));
    const [, ...answers] = await this.#trips.inTurn([this.#store(calls.map(({ put }) => put)), ...reads]);
    const found = new Map(
      [...asked].map(([table, { length }], index) => [table, valuesOf(answers[index], length)]),
    );
    return slots.map(({ table, at }) => found.get(table)?.[at]);
  }

  async #readOne({ partition, lower, upper, limit }: Page): Promise<KvEntry[]> {
    const { scan, scanRange } = this.#statements;
    const query =
      upper === undefined
        ? { statement: scan, values: [partition, lower, limit] }
        : { statement: scanRange, values: [partition, lower, limit, upper] };
    const { rows } = await this.#read(query, limit);
    return rows.map(([key = nothing, value = nothing]) => ({ key, value }));
  }

  async #readEach(pages: readonly Page[]): Promise<readonly KvEntry[][]> {
    const [first] = pages;
    if (pages.length === 1 && first !== undefined) return [await this.#readOne(first)];
    const values = [
      byteaArray(pages.map(({ partition }) => partition)),
      byteaArray(pages.map(({ lower }) => lower)),
      byteaArray(pages.map(({ upper }) => upper)),
      int8Array(pages.map(({ limit }) => limit)),
    ];
    const most = pages.reduce((sum, { limit }) => sum + limit, 0);
    const { rows } = await this.#read({ statement: this.#statements.scanEach, values }, most);
    const entries = pages.map((): KvEntry[] => []);
    for (const [place, key = nothing, value = nothing] of rows)
      entries[Number(place?.readBigInt64BE(0)) - 1]?.push({ key, value });
    return entries;
  }

  #lookUp(calls: readonly Place[]): Query {
    const [first] = calls;
    return calls.length === 1 && first !== undefined
      ? { statement: this.#statements.get, values: [first.partition, first.key] }
      : { statement: this.#statements.getEach, values: places(calls) };
  }

  /** The calls are sorted: in one order everywhere no two statements wait for each other. */
  #store(calls: readonly Put[]): Query {
    const [first] = calls;
    if (calls.length === 1 && first !== undefined)
      return { statement: this.#statements.set, values: [first.partition, first.key, first.value] };
    const values = [...places(calls), byteaArray(calls.map(({ value }) => value))];
    return { statement: this.#statements.setEach, values };
  }

  /** Nobody waits for an answer of many rows but who asked for it. */
  #read(query: Query, mostRows: number): Promise<QueryRows> {
    return mostRows <= fewRows ? this.#trips.read(query) : this.#runOne(query);
  }

  async #runOne(query: Query): Promise<QueryRows> {
    const [rows = noRows] = await this.#trips.inTurn([query]);
    return rows;
  }

  async #changeOne(change: OwnedChange): Promise<boolean> {
    const planned = planChange(this.#table, change);
    if (planned === undefined) return false;
    return (await this.#runOne({ statement: planned, values: planned.values })).rows.length === 1;
  }

  async #changeEach(changes: readonly OwnedChange[]): Promise<readonly boolean[]> {
    const [first] = changes;
    if (changes.length === 1 && first !== undefined) return [await this.#changeOne(first)];
    const { rows } = await this.run('changeEach', creationColumns(changes));
    const made = new Set(rows.map(([place]) => Number(place?.readBigInt64BE(0))));
    return changes.map((_, index) => made.has(index + 1));
  }
}

const nothing = Buffer.alloc(0);
const noRows: QueryRows = { rows: [], rowCount: 0 };

/** What was found of `count` keys: the one asked for alone has no row when there is none. */
function valuesOf(answer: QueryRows | undefined, count: number): readonly (Buffer | undefined)[] {
  const rows = (answer?.rows ?? []) as (Buffer | null)[][];
  return Array.from({ length: count }, (_, index) => rows[index]?.[0] ?? undefined);
}

/** A key that must be new, and puts beside it: the kind of change that many requests make at once. */
function isCreation({ guard, guarded, others, still }: OwnedChange): boolean {
  return (
    guard.condition === 'absent' &&
    guarded?.type === 'put' &&
    still?.value === undefined &&
    others.every(({ type }) => type === 'put')
  );
}

function comparePlaces(a: Place, b: Place): number {
  return Buffer.compare(a.partition, b.partition) || Buffer.compare(a.key, b.key);
}

function placeOf({ partition, guard }: OwnedChange): Place {
  return { partition, key: guard.key };
}

function places(calls: readonly Place[]): [Buffer, Buffer] {
  return [byteaArray(calls.map(({ partition }) => partition)), byteaArray(calls.map(({ key }) => key))];
}

/** Partition, new key, its value and the key that must be absent as well, per change; then the puts and whose they are. */
function creationColumns(changes: readonly OwnedChange[]): Buffer[] {
  const created: Buffer[] = [];
  const owners: number[] = [];
  const keys: Buffer[] = [];
  const values: Buffer[] = [];
  for (const [index, { guarded, others }] of changes.entries()) {
    if (guarded?.type === 'put') created.push(guarded.value);
    for (const write of others) {
      if (write.type === 'delete') continue;
      owners.push(index + 1);
      keys.push(write.key);
      values.push(write.value);
    }
  }
  return [
    ...places(changes.map(({ partition, guard }) => ({ partition, key: guard.key }))),
    byteaArray(created),
    byteaArray(changes.map(({ still }) => still?.key)),
    int8Array(owners),
    byteaArray(keys),
    byteaArray(values),
  ];
}
