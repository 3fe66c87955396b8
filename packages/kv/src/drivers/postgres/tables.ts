import { escapeIdentifier, type ClientBase } from 'pg';
import { LRUCache } from 'lru-cache';
import { hashPartition } from './hash-partition.ts';

const rememberedPartitions = 10_000;
/** Of every length that the hash function treats in its own way. */
const samples = Array.from({ length: 40 }, (_, length) =>
  Buffer.from('partition/'.repeat(4)).subarray(0, length),
);

const rights = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];

/** Which table holds a partition of the store. */
export interface Tables {
  /** All partitions of the store. */
  readonly all: string;
  of(partition: Uint8Array): Table;
}

export interface Table {
  /** As it stands in a statement. */
  readonly text: string;
  /** For the names of prepared statements. */
  readonly name: string;
  /** Holds all partitions of the store, perhaps in tables below it. */
  readonly isWhole: boolean;
}

/**
 * The partitions of the table by name. A table that is laid out in another way, or whose server hashes in another way, is
 * used as one.
 */
export async function readTables(client: ClientBase, table: string): Promise<Tables> {
  const text = escapeIdentifier(table);
  const modulus = await readModulus(client, table);
  const whole: Table = { text, name: 'all', isWhole: true };
  if (modulus === undefined) return { all: text, of: () => whole };
  const tables = Array.from({ length: modulus }, (_, remainder): Table => ({
    text: escapeIdentifier(partitionName(table, remainder)),
    name: String(remainder),
    isWhole: false,
  }));
  const found = new LRUCache<string, Table>({ max: rememberedPartitions });
  const of = (partition: Uint8Array): Table => {
    const name = Buffer.from(partition.buffer, partition.byteOffset, partition.byteLength).toString('latin1');
    const known = found.get(name);
    if (known !== undefined) return known;
    const held = tables[hashPartition(partition, modulus)] ?? whole;
    found.set(name, held);
    return held;
  };
  return { all: text, of };
}

function partitionName(table: string, remainder: number): string {
  return `${table}_${remainder}`;
}

/** How many partitions there are, provided that each is where its number says and holds what this program thinks. */
async function readModulus(client: ClientBase, name: string): Promise<number | undefined> {
  const table = escapeIdentifier(name);
  const { rows } = await client.query<(Buffer | null)[]>({
    text:
      'SELECT part.relname::text, pg_get_expr(part.relpartbound, part.oid), ' +
      // A partition that is divided further is none of ours either.
      "  to_regclass(quote_ident(part.relname)) = part.oid AND part.relkind = 'r' AND " +
      // Rights on the table are none on its partitions.
      `  ${rights.map((right) => `has_table_privilege(part.oid, '${right}')`).join(' AND ')} ` +
      'FROM pg_class parent JOIN pg_inherits ON inhparent = parent.oid JOIN pg_class part ON part.oid = inhrelid ' +
      'WHERE parent.oid = to_regclass($1)',
    values: [table],
    rowMode: 'array',
  });
  const modulus = rows.length;
  const remainders = new Set<number>();
  for (const [part, bound, isUsable] of rows) {
    const parts = /modulus (\d+), remainder (\d+)/i.exec(bound?.toString() ?? '');
    const remainder = Number(parts?.[2]);
    if (Number(parts?.[1]) !== modulus || isUsable?.toString() !== 't') return undefined;
    if (part?.toString() !== partitionName(name, remainder)) return undefined;
    remainders.add(remainder);
  }
  if (modulus === 0 || remainders.size !== modulus) return undefined;
  return (await hashesAlike(client, table, modulus)) ? modulus : undefined;
}

async function hashesAlike(client: ClientBase, table: string, modulus: number): Promise<boolean> {
  const values: (string | number | Buffer)[] = [table, modulus];
  const checks = samples.map((sample) => {
    const remainder = values.push(hashPartition(sample, modulus));
    return `satisfies_hash_partition(to_regclass($1), $2::int, $${remainder}::int, $${values.push(sample)}::bytea)`;
  });
  const { rows } = await client.query<(Buffer | null)[]>({
    text: `SELECT ${checks.join(' AND ')}`,
    values,
    rowMode: 'array',
  });
  return rows[0]?.[0]?.toString() === 't';
}
