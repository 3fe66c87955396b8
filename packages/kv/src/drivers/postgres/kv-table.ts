import type { OwnedChange } from '../../arguments.ts';
import { byteaArray, int8Array } from './binary-array.ts';
import { planChange } from './change-statement.ts';
import { isCollision } from './database-error.ts';
import { GroupedCalls } from './grouped-calls.ts';
import { statements, type Statement, type StatementName } from './statements.ts';
import type { Table } from './tables.ts';

/** More groups at once only make them smaller. */
const groupsUnderWay = 2;
const maxGroup = 200;

export interface QueryRows {
  readonly rows: Buffer[][];
  readonly rowCount: number | null;
}

export type Parameter = Buffer | number;

export type Query = (statement: Statement, values: readonly Parameter[]) => Promise<QueryRows>;

export interface Place {
  readonly partition: Buffer;
  readonly key: Buffer;
}

interface Put extends Place {
  readonly value: Buffer;
}

/** One table of the store. What many requests ask of it at once goes there in groups. Buffers must be the caller's own. */
export class KvTable {
  readonly #table: Table;
  readonly #query: Query;
  readonly #statements: Readonly<Record<StatementName, Statement>>;
  readonly #gets: GroupedCalls<Place, Buffer | undefined>;
  readonly #puts: GroupedCalls<Put, void>;
  readonly #creations: GroupedCalls<OwnedChange, boolean>;

  constructor(table: Table, query: Query) {
    this.#table = table;
    this.#query = query;
    this.#statements = statements(table);
    const group = { maxUnderWay: groupsUnderWay, maxGroup, mayRunAlone: isCollision };
    this.#gets = new GroupedCalls({ ...group, run: (calls) => this.#getEach(calls) });
    this.#puts = new GroupedCalls<Put, void>({
      ...group,
      keyOf: nameOf,
      run: (calls) => this.#setEach(calls),
    });
    this.#creations = new GroupedCalls({
      ...group,
      keyOf: ({ partition, guard }) => nameOf({ partition, key: guard.key }),
      run: (changes) => this.#changeEach(changes),
    });
  }

  run(name: StatementName, values: readonly Parameter[]): Promise<QueryRows> {
    return this.#query(this.#statements[name], values);
  }

  get(place: Place): Promise<Buffer | undefined> {
    return this.#gets.call(place);
  }

  set(put: Put): Promise<void> {
    return this.#puts.call(put);
  }

  change(change: OwnedChange): Promise<boolean> {
    return isCreation(change) ? this.#creations.call(change) : this.#changeOne(change);
  }

  async #getEach(calls: readonly Place[]): Promise<readonly (Buffer | undefined)[]> {
    const [first] = calls;
    if (calls.length === 1 && first !== undefined) {
      const { rows } = await this.run('get', [first.partition, first.key]);
      return [rows[0]?.[0]];
    }
    const { rows } = await this.run('getEach', places(calls));
    return (rows as (Buffer | null)[][]).map(([value]) => value ?? undefined);
  }

  async #setEach(calls: readonly Put[]): Promise<readonly void[]> {
    const [first] = calls;
    if (calls.length === 1 && first !== undefined) {
      await this.run('set', [first.partition, first.key, first.value]);
    } else {
      // In one order everywhere: no two statements wait for each other.
      const sorted = calls.toSorted(
        (a, b) => Buffer.compare(a.partition, b.partition) || Buffer.compare(a.key, b.key),
      );
      await this.run('setEach', [...places(sorted), byteaArray(sorted.map(({ value }) => value))]);
    }
    return [];
  }

  async #changeOne(change: OwnedChange): Promise<boolean> {
    const planned = planChange(this.#table, change);
    return planned !== undefined && (await this.#query(planned, planned.values)).rows.length === 1;
  }

  async #changeEach(changes: readonly OwnedChange[]): Promise<readonly boolean[]> {
    const [first] = changes;
    if (changes.length === 1 && first !== undefined) return [await this.#changeOne(first)];
    const { rows } = await this.run('changeEach', creationColumns(changes));
    const made = new Set(rows.map(([place]) => Number(place?.readBigInt64BE(0))));
    return changes.map((_, index) => made.has(index + 1));
  }
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

function nameOf({ partition, key }: Place): string {
  return `${partition.length}:${partition.toString('latin1')}${key.toString('latin1')}`;
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
