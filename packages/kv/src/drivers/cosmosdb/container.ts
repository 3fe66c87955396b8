import { KvError } from '../../errors.ts';
import type { CosmosClient } from './client.ts';
import { refusalError } from './refusals.ts';

export interface ContainerOptions {
  readonly database: string;
  readonly container: string;
  /** Throughput of a container that is created. */
  readonly throughput: number | undefined;
  readonly autoscale: boolean;
}

/** Levels at which whoever reads in the region of writes sees every acknowledged write. */
const strongEnough = ['Strong', 'BoundedStaleness'];
const partitionPath = '/partitionKey';

/** Checks the account, and creates database and container unless they exist. */
export async function ensureContainer(client: CosmosClient, options: ContainerOptions): Promise<void> {
  try {
    await checkAccount(client);
    await ensure(client, options);
  } catch (error) {
    if (!(error instanceof KvError) || error.kind === 'setup_failed') throw error;
    throw new KvError(
      'connect_failed',
      `connect failed: Cosmos DB at ${client.place}, database "${options.database}", container "${options.container}": ` +
        `${error.message.replace(/^cosmosdb: /, '')}; check database.cosmosdb.endpoint, database, container and key`,
      { cause: error },
    );
  }
}

async function checkAccount(client: CosmosClient): Promise<void> {
  const { output, refusal } = await client.send<{
    userConsistencyPolicy?: { defaultConsistencyLevel?: string };
    enableMultipleWriteLocations?: boolean;
  }>({ method: 'GET', resourceType: '', link: '' });
  if (refusal !== undefined) throw refusalError(refusal);
  const level = output.userConsistencyPolicy?.defaultConsistencyLevel ?? 'unknown';
  if (!strongEnough.includes(level)) {
    throw new KvError(
      'setup_failed',
      `the Cosmos DB account at ${client.place} has the default consistency ${level}, which shows writes late; ` +
        'set it to Strong (or Bounded Staleness with one region)',
    );
  }
  if (output.enableMultipleWriteLocations === true) {
    throw new KvError(
      'setup_failed',
      `the Cosmos DB account at ${client.place} takes writes in several regions, which loses conditional writes; ` +
        'let it write in one region only',
    );
  }
}

async function ensure(client: CosmosClient, options: ContainerOptions): Promise<void> {
  const { database, container } = options;
  const link = `dbs/${database}/colls/${container}`;
  const found = await client.send<{ partitionKey?: { paths?: readonly string[] } }>({
    method: 'GET',
    resourceType: 'colls',
    link,
  });
  if (found.refusal === undefined) {
    const paths = found.output.partitionKey?.paths ?? [];
    if (paths.join() === partitionPath) return;
    throw new KvError(
      'setup_failed',
      `the Cosmos DB container "${container}" is partitioned by ${paths.join(', ')}, this store needs ${partitionPath}; ` +
        'name another container in database.cosmosdb.container',
    );
  }
  // Another server may be faster: then each of them is there already.
  await create(client, 'dbs', '', '/dbs', { id: database }, {});
  const { throughput = 0, autoscale } = options;
  const headers: Record<string, string> =
    throughput === 0
      ? {}
      : autoscale
        ? { 'x-ms-cosmos-offer-autopilot-settings': JSON.stringify({ maxThroughput: throughput }) }
        : { 'x-ms-offer-throughput': String(throughput) };
  const definition = {
    id: container,
    partitionKey: { paths: [partitionPath], kind: 'Hash', version: 2 },
    indexingPolicy: {
      indexingMode: 'consistent',
      automatic: true,
      includedPaths: [{ path: '/*' }],
      excludedPaths: [{ path: '/value/?' }, { path: '/"_etag"/?' }],
    },
  };
  await create(client, 'colls', `dbs/${database}`, '/colls', definition, headers);
}

async function create(
  client: CosmosClient,
  resourceType: string,
  link: string,
  feed: string,
  body: object,
  headers: Record<string, string>,
): Promise<void> {
  // The address of the account has no link in front of its databases.
  const { refusal } = await client.send({
    method: 'POST',
    resourceType,
    link,
    feed: link === '' ? feed.slice(1) : feed,
    body,
    headers,
  });
  if (refusal !== undefined && refusal.status !== 409) throw refusalError(refusal);
}
