import {
  copyAll,
  copyDatabase,
  copyPartition,
  copyTable,
  createSymlinkTable,
  diffTables,
  inRepository,
  isBranchName,
  isRepositoryName,
  nameOf,
  onBranch,
  type Metastore,
  type Relocate,
  type TablePlace,
} from '@svc/metastore';
import type { MetastoreCall, MetastoreOperation } from '../worker-protocol.ts';
import { openClient, type Client } from './open-client.ts';
import { Options } from './options.ts';
import type { ThreadAnswer, ThreadCall } from './thread-protocol.ts';

export interface Surroundings {
  /** Throws when it could not be asked. */
  readonly ask: (call: ThreadCall) => Promise<Exclude<ThreadAnswer, { error: string }>>;
  /** What one metastore may send. */
  readonly maxReceivedBytes: number;
}

type Operation = (options: Options, surroundings: Surroundings) => Promise<object>;

const operations: Readonly<Record<MetastoreOperation, Operation>> = {
  copy,
  copy_schema: copySchema,
  copy_all: (options, surroundings) => {
    const branch = branchOf(options, 'branch');
    return copyEverything(options, surroundings, (dbfsRoot) => onBranch(branch, dbfsRoot));
  },
  import_all: (options, surroundings) => {
    const [repository, branch] = [repositoryOf(options), branchOf(options, 'branch')];
    return copyEverything(options, surroundings, (dbfsRoot) => inRepository(repository, branch, dbfsRoot));
  },
  diff,
  create_symlink: createSymlink,
};

/** What a script gets; plain data. */
export async function runOperation(call: MetastoreCall, surroundings: Surroundings): Promise<object> {
  const values = JSON.parse(call.options) as Readonly<Record<string, unknown>>;
  return operations[call.operation](new Options(values), surroundings);
}

async function copy(options: Options, surroundings: Surroundings): Promise<object> {
  const clients = twoClients(options, surroundings);
  const branch = branchOf(options, 'to_branch');
  const from = tablePlace(clients.from.metastore, options, 'from');
  const to = {
    metastore: clients.to.metastore,
    database: options.optionalText('to_schema') ?? branch,
    table: options.optionalText('to_table') ?? from.table,
  };
  const partition = options.optionalTexts('partition');
  const dryRun = options.flag('dry_run');
  const request = {
    from,
    to,
    rewrite: {
      serde: options.optionalText('serde') ?? to.table,
      relocate: onBranch(branch, options.optionalText('dbfs_root')),
      fixSparkPlaceholder: options.flag('fix_spark_placeholder'),
    },
    dryRun,
  };
  options.end();
  const outcome = await (partition === undefined ? copyTable(request) : copyPartition(request, partition));
  return { from: nameOf(from), to: nameOf(to), ...outcome, dry_run: dryRun };
}

async function copySchema(options: Options, surroundings: Surroundings): Promise<object> {
  const clients = twoClients(options, surroundings);
  const branch = branchOf(options, 'to_branch');
  const from = options.text('from_schema');
  const to = options.optionalText('to_schema') ?? branch;
  const dryRun = options.flag('dry_run');
  const relocate = onBranch(branch, options.optionalText('dbfs_root'));
  options.end();
  const { location = '' } = await copyDatabase({
    from: { metastore: clients.from.metastore, database: from },
    to: { metastore: clients.to.metastore, database: to },
    relocate,
    dryRun,
  });
  return { from, to, location, dry_run: dryRun };
}

async function copyEverything(
  options: Options,
  surroundings: Surroundings,
  relocateFrom: (dbfsRoot: string | undefined) => Relocate,
): Promise<object> {
  const from = openClient(options.table('from_client'), surroundings);
  const to = openClient(options.table('to_client'), surroundings);
  refuseOneMetastore(from, to);
  const dryRun = options.flag('dry_run');
  const tables: object[] = [];
  const errors: object[] = [];
  const request = {
    from: from.metastore,
    to: to.metastore,
    databases: options.optionalText('schema_filter') ?? '.*',
    tables: options.optionalText('table_filter') ?? '.*',
    rewrite: {
      relocate: relocateFrom(options.optionalText('dbfs_root')),
      fixSparkPlaceholder: options.flag('fix_spark_placeholder'),
    },
    warehouse: to.warehouse,
    continueOnError: options.flag('continue_on_error'),
    dryRun,
    report: {
      started: () => undefined,
      progress: () => undefined,
      finished: (source: string, target: string, outcome: object) =>
        void tables.push({ from: source, to: target, ...outcome }),
      failed: (what: string, { message }: Error) => void errors.push({ what, message }),
    },
  };
  options.end();
  const { copied, failed } = await copyAll(request);
  return { tables, errors, copied, failed, dry_run: dryRun };
}

async function diff(options: Options, surroundings: Surroundings): Promise<object> {
  const clients = twoClients(options, surroundings);
  const from = tablePlace(clients.from.metastore, options, 'from');
  const to = {
    metastore: clients.to.metastore,
    database: options.optionalText('to_schema') ?? from.database,
    table: options.optionalText('to_table') ?? from.table,
  };
  options.end();
  return { from: nameOf(from), to: nameOf(to), ...(await diffTables(from, to)) };
}

async function createSymlink(options: Options, surroundings: Surroundings): Promise<object> {
  const clients = twoClients(options, surroundings);
  if (clients.to.metastore.kind !== 'glue') throw new TypeError('to_client must be of type glue');
  const [repository, branch] = [repositoryOf(options), branchOf(options, 'branch')];
  const from = tablePlace(clients.from.metastore, options, 'from');
  const to = tablePlace(clients.to.metastore, options, 'to');
  const path = options.text('path');
  const dryRun = options.flag('dry_run');
  const fixSparkPlaceholder = options.flag('fix_spark_placeholder');
  options.end();
  const { location, outcome } = await createSymlinkTable({
    from,
    to,
    repository,
    branch,
    fixSparkPlaceholder,
    dryRun,
    writeSymlinks: () => writeSymlinks(surroundings, repository, branch, path),
  });
  return { from: nameOf(from), to: nameOf(to), location, ...outcome, dry_run: dryRun };
}

/** The service does it, for the user whose operation the hook belongs to. */
async function writeSymlinks(
  { ask }: Surroundings,
  repository: string,
  branch: string,
  location: string,
): Promise<string> {
  const path = `/repositories/${encodeURIComponent(repository)}/refs/${encodeURIComponent(branch)}/symlink`;
  const answer = await ask({ kind: 'api', method: 'POST', path, query: { location } });
  if (!('status' in answer)) throw new TypeError('no answer');
  const body = JSON.parse(Buffer.from(answer.body).toString('utf8')) as Readonly<Record<string, unknown>>;
  if (answer.status !== 201 || typeof body['location'] !== 'string') {
    const said = typeof body['message'] === 'string' ? `: ${body['message']}` : '';
    throw new Error(`symlinks of ${repository}/${branch} were not written: HTTP ${answer.status}${said}`);
  }
  return body['location'];
}

/** Copies go to the metastore they come from unless another is named. */
function twoClients(options: Options, surroundings: Surroundings): { from: Client; to: Client } {
  const from = openClient(options.table('from_client'), surroundings);
  const other = options.optionalTable('to_client');
  return { from, to: other === undefined ? from : openClient(other, surroundings) };
}

function tablePlace(metastore: Metastore, options: Options, side: 'from' | 'to'): TablePlace {
  return { metastore, database: options.text(`${side}_schema`), table: options.text(`${side}_table`) };
}

function branchOf(options: Options, name: string): string {
  const branch = options.text(name);
  if (!isBranchName(branch)) throw new TypeError(`${name} "${branch}" is not the name of a branch`);
  return branch;
}

function repositoryOf(options: Options): string {
  const repository = options.text('repo');
  if (!isRepositoryName(repository)) {
    throw new TypeError(`repo "${repository}" is not the name of a repository`);
  }
  return repository;
}

/** Copies have the names of their tables: in the same metastore they would take their place. */
function refuseOneMetastore(from: Client, to: Client): void {
  if (from.place !== to.place) return;
  if (from.catalogId !== undefined && to.catalogId !== undefined && from.catalogId !== to.catalogId) return;
  const hint = from.metastore.kind === 'glue' ? ' (two catalogs need a catalog_id each)' : '';
  throw new TypeError(
    `from_client and to_client are the same metastore: its tables would be changed in place${hint}`,
  );
}
