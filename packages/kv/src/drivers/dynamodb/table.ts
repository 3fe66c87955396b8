import { setTimeout as delay } from 'node:timers/promises';
import { KvError } from '../../errors.ts';
import type { DynamoClient } from './client.ts';
import { refusalError } from './refusals.ts';

const creationMs = 30_000;
const pollMs = 200;

interface TableDescription {
  readonly TableStatus?: string;
  readonly KeySchema?: readonly { readonly AttributeName: string; readonly KeyType: string }[];
  readonly AttributeDefinitions?: readonly {
    readonly AttributeName: string;
    readonly AttributeType: string;
  }[];
}

const attributes = ['PartitionKey', 'ItemKey'];
const schema = {
  AttributeDefinitions: attributes.map((AttributeName) => ({ AttributeName, AttributeType: 'B' })),
  KeySchema: [
    { AttributeName: 'PartitionKey', KeyType: 'HASH' },
    { AttributeName: 'ItemKey', KeyType: 'RANGE' },
  ],
};

/** Creates the table unless it exists, paid per request, and waits until it serves. Any capacity mode is taken as it is. */
export async function ensureTable(client: DynamoClient, name: string): Promise<void> {
  try {
    await prepare(client, name);
  } catch (error) {
    if (!(error instanceof KvError) || error.kind === 'setup_failed') throw error;
    throw new KvError(
      'connect_failed',
      `connect failed: DynamoDB at ${client.place}, table "${name}": ${error.message.replace(/^dynamodb: /, '')}; ` +
        'check database.dynamodb.endpoint, aws_region, table_name and the credentials',
      { cause: error },
    );
  }
}

async function prepare(client: DynamoClient, name: string): Promise<void> {
  const deadline = Date.now() + creationMs;
  let asked = false;
  for (;;) {
    const table = await describeTable(client, name);
    if (table === undefined && !asked) {
      await createTable(client, name);
      asked = true;
    } else if (table?.TableStatus === 'ACTIVE' || table?.TableStatus === 'UPDATING') {
      requireShape(table, name);
      return;
    }
    if (Date.now() > deadline) {
      throw new KvError(
        'setup_failed',
        `the DynamoDB table "${name}" is ${table?.TableStatus ?? 'missing'} after ${creationMs / 1000} s; ` +
          'try again when it is ACTIVE',
      );
    }
    await delay(pollMs);
  }
}

/** Undefined when there is no such table. */
export async function describeTable(
  client: DynamoClient,
  name: string,
): Promise<TableDescription | undefined> {
  const { output, refusal } = await client.call<{ Table?: TableDescription }>('DescribeTable', {
    TableName: name,
  });
  if (refusal === undefined) return output.Table;
  if (refusal.type === 'ResourceNotFoundException') return undefined;
  throw refusalError(refusal);
}

async function createTable(client: DynamoClient, name: string): Promise<void> {
  const { refusal } = await client.call('CreateTable', {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    ...schema,
  });
  // Another server was faster.
  if (refusal === undefined || refusal.type === 'ResourceInUseException') return;
  throw refusalError(refusal);
}

function requireShape(table: TableDescription, name: string): void {
  const keys = (table.KeySchema ?? []).map(({ AttributeName, KeyType }) => `${AttributeName} ${KeyType}`);
  const types = new Map(
    (table.AttributeDefinitions ?? []).map((each) => [each.AttributeName, each.AttributeType]),
  );
  const expected = schema.KeySchema.map(({ AttributeName, KeyType }) => `${AttributeName} ${KeyType}`);
  if (
    keys.toSorted().join() === expected.toSorted().join() &&
    attributes.every((each) => types.get(each) === 'B')
  ) {
    return;
  }
  throw new KvError(
    'setup_failed',
    `the DynamoDB table "${name}" has the keys ${keys.join(', ')}; this store needs PartitionKey (HASH, binary) and ` +
      'ItemKey (RANGE, binary): name another table in database.dynamodb.table_name',
  );
}
