import {
  branchMessage,
  commitMessage,
  decodeEntry,
  decodeValue,
  rangeMessage,
  tagMessage,
  timestampToDate,
} from '@svc/encoding';
import { FileSource, MemorySource, TableReader } from '@svc/sstable';
import type { Command } from 'commander';
import { action } from '../context.ts';
import { CliError, UsageError } from '../errors.ts';
import { readInput } from '../input.ts';
import { wholeNumber } from '../list-flag.ts';

interface Layout {
  readonly headers: readonly string[];
  readonly row: (key: Buffer, identity: Buffer, data: Buffer) => readonly string[];
}

const metaRange: Layout = {
  headers: ['range_id', 'min_key', 'max_key', 'count', 'estimated_size'],
  row: (_key, identity, data) => {
    const range = rangeMessage.decode(data);
    return [
      identity.toString('utf8'),
      range.minKey.toString('utf8'),
      range.maxKey.toString('utf8'),
      String(range.count),
      String(range.estimatedSize),
    ];
  },
};

const entries: Layout = {
  headers: ['path', 'identity', 'size', 'etag', 'last_modified', 'address', 'metadata'],
  row: (key, identity, data) => {
    const entry = decodeEntry(data);
    return [
      key.toString('utf8'),
      identity.toString('hex'),
      String(entry.size),
      entry.etag,
      timestampToDate(entry.lastModified).toISOString(),
      entry.address,
      JSON.stringify(entry.metadata),
    ];
  },
};

const dumps: Record<string, Layout> = {
  branch: {
    headers: ['branch ID', 'commit ID'],
    row: (_key, _identity, data) => {
      const branch = branchMessage.decode(data);
      return [branch.id, branch.commitId];
    },
  },
  tag: {
    headers: ['tag ID', 'commit ID'],
    row: (_key, _identity, data) => {
      const tag = tagMessage.decode(data);
      return [tag.id, tag.commitId];
    },
  },
  commit: {
    headers: [
      'commit ID',
      'committer',
      'message',
      'creation date',
      'metadata',
      'parents',
      'metarange ID',
      'version',
      'generation',
    ],
    row: (_key, _identity, data) => {
      const commit = commitMessage.decode(data);
      return [
        commit.id,
        commit.committer,
        commit.message,
        timestampToDate(commit.creationDate).toISOString(),
        JSON.stringify(commit.metadata),
        JSON.stringify(commit.parents),
        commit.metaRangeId,
        String(commit.version),
        String(commit.generation),
      ];
    },
  },
};

export function register(program: Command): void {
  program
    .command('cat-sst', { hidden: true })
    .description('show the records of a range or metarange file')
    .argument('[sst-file]')
    .option('-f, --file <file>', 'the file, - for standard input')
    .option('--amount <n>', 'how many records, -1 for all', wholeNumber, -1)
    .action(
      action<[string | undefined], { file?: string; amount: number }>(async ({ out }, [argument], flags) => {
        if (argument !== undefined && flags.file !== undefined && argument !== flags.file) {
          throw new UsageError('the argument and --file name different files');
        }
        const file = flags.file ?? argument;
        if (file === undefined) throw new UsageError('no file: give it as an argument or with --file');
        const reader = await openTable(file);
        try {
          const layout = layoutOf(reader);
          const rows = readRows(reader, layout, flags.amount);
          if (out.json) {
            out.document(
              rows.map((row) => Object.fromEntries(layout.headers.map((name, at) => [name, row[at] ?? '']))),
            );
          } else out.table(layout.headers, rows);
        } finally {
          reader.close();
        }
      }),
    );
}

async function openTable(file: string): Promise<TableReader> {
  const bytes = file === '-' ? await readInput(file) : undefined;
  try {
    return new TableReader(bytes === undefined ? new FileSource(file) : new MemorySource(bytes));
  } catch (error) {
    throw new CliError(`${file} is not a table: ${(error as Error).message}`, { cause: error });
  }
}

function layoutOf(reader: TableReader): Layout {
  const properties = reader.properties();
  const type = properties.get('type')?.toString('utf8');
  if (type === 'metaranges') return metaRange;
  if (type !== 'ranges') throw new CliError(`unknown type of table: "${type ?? ''}"`);
  const entity = properties.get('entity')?.toString('utf8');
  return entity === undefined ? entries : (dumps[entity] ?? entries);
}

function readRows(reader: TableReader, layout: Layout, amount: number): (readonly string[])[] {
  const cursor = reader.scan();
  const rows: (readonly string[])[] = [];
  const most = amount < 0 ? Number.POSITIVE_INFINITY : amount;
  for (let count = 0; count < most && cursor.next(); count += 1) {
    const value = decodeValue(cursor.block.subarray(cursor.valueStart, cursor.valueEnd));
    const key = Buffer.from(cursor.key.subarray(0, cursor.keyLength));
    rows.push(layout.row(key, value.identity, value.data));
  }
  return rows;
}
