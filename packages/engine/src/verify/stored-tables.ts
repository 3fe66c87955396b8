import { checkTable, CorruptTableError, FileSource, type TableCheck, TableReader } from '@svc/sstable';
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlockTables } from '../committed/store/block-tables.ts';
import type { CommittedContext } from '../committed/context.ts';
import { isDamage, type TableKind } from '../committed/store/table-damage.ts';
import type { DamageFinding } from './finding.ts';

/** What is wrong with a table. */
export type TableProblem = Pick<DamageFinding, 'problem' | 'reason' | 'lost'>;

export interface CheckedTable {
  /** Undefined when it could not be read at all. */
  readonly check: TableCheck | undefined;
  /** Undefined when its records are the ones its id stands for. */
  readonly problem: TableProblem | undefined;
  readonly bytes: number;
}

/** Tables as the block store has them, never as a cache does. */
export class StoredTables {
  readonly #tables: BlockTables;
  readonly #context: CommittedContext;
  readonly #folder: string;

  /** Files are put into `folder` while they are read. */
  constructor(tables: BlockTables, context: CommittedContext, folder: string) {
    this.#tables = tables;
    this.#context = context;
    this.#folder = folder;
  }

  /** Reads a whole table once; throws when the store does not answer. */
  async check(
    kind: TableKind,
    id: string,
    visit: (key: Buffer, value: Buffer) => void,
  ): Promise<CheckedTable> {
    const path = join(this.#folder, randomUUID());
    try {
      await this.#tables.download(this.#context, id, path);
      return checkFile(path, kind, id, visit);
    } catch (error) {
      if (!isDamage(error)) throw error;
      const problem = { problem: 'missing', reason: 'it is missing from the store', lost: [] } as const;
      return { check: undefined, problem, bytes: 0 };
    } finally {
      await rm(path, { force: true });
    }
  }
}

function checkFile(
  path: string,
  kind: TableKind,
  id: string,
  visit: (key: Buffer, value: Buffer) => void,
): CheckedTable {
  const source = new FileSource(path);
  const bytes = source.size;
  let reader: TableReader | undefined;
  try {
    reader = new TableReader(source);
    const check = checkTable(reader, kind === 'range' ? 'ranges' : 'metaranges', visit);
    return { check, problem: problemOf(check, id), bytes };
  } catch (error) {
    if (!(error instanceof CorruptTableError)) throw error;
    return { check: undefined, problem: { problem: 'damaged', reason: error.message, lost: [] }, bytes };
  } finally {
    reader?.close();
  }
}

function problemOf(check: TableCheck, id: string): TableProblem | undefined {
  const [first] = check.lost;
  if (first !== undefined) {
    const blocks = check.lost.length === 1 ? 'a block' : `${check.lost.length} blocks`;
    return {
      problem: 'damaged',
      reason: `${blocks} cannot be read: ${first.reason}`,
      lost: check.lost,
    };
  }
  if (check.id === id) return undefined;
  return {
    problem: 'damaged',
    reason: `its records are those of ${check.id}`,
    lost: [],
  };
}
