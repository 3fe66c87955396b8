import { connect, type LookupFunction, type Socket } from 'node:net';
import {
  GlueMetastore,
  HiveMetastore,
  parseHiveAddress,
  type HiveAddress,
  type Metastore,
  type SendGlue,
} from '@svc/metastore';
import { awsAccount, awsTimeoutMs } from '../packages/aws-request.ts';
import type { Options } from './options.ts';
import type { Surroundings } from './run-operation.ts';

/** A metastore as a script names it. */
export interface Client {
  readonly metastore: Metastore;
  /** Where schemas go that are in no object store. */
  readonly warehouse: string;
  /** Equal for clients that may be of one metastore. */
  readonly place: string;
  readonly catalogId?: string | undefined;
}

const hiveWarehouse = 'file:/user/hive/warehouse/';

/** Nothing is connected before the first call. */
export function openClient(options: Options, surroundings: Surroundings): Client {
  const type = options.text('type');
  if (type === 'hive') return openHive(options, surroundings);
  if (type === 'glue') return openGlue(options, surroundings);
  throw new TypeError(`the type of a client must be hive or glue, not "${type}"`);
}

function openHive(options: Options, { ask, maxReceivedBytes }: Surroundings): Client {
  const address = options.text('address');
  const warehouse = options.optionalText('db_location_uri') ?? hiveWarehouse;
  options.end();
  const { host, port } = parseHiveAddress(address);
  const metastore = new HiveMetastore(address, {
    greets: true,
    maxReceivedBytes,
    async connect(place: HiveAddress): Promise<Socket> {
      const answer = await ask({ kind: 'address', host: place.host });
      if (!('addresses' in answer)) throw new TypeError('no addresses');
      const { addresses } = answer;
      // Only what was checked: nobody resolves the name again.
      const lookup: LookupFunction = (_name, { all }, found) => {
        const [first] = addresses;
        if (all === true) found(null, [...addresses]);
        else found(null, first?.address ?? '', first?.family);
      };
      return connect({ host: place.host, port: place.port, noDelay: true, lookup });
    },
  });
  return { metastore, warehouse, place: `hive ${host.toLowerCase()}:${port}` };
}

function openGlue(options: Options, { ask }: Surroundings): Client {
  const account = awsAccount(
    options.text('key'),
    options.text('secret'),
    options.optionalText('region') ?? '',
    options.optionalText('endpoint') ?? '',
  );
  const catalogId = options.optionalText('catalog_id');
  const warehouse = options.optionalText('db_location_uri') ?? '';
  options.end();
  const { endpoint, region } = account;
  if (endpoint !== '' && !URL.canParse(endpoint)) throw new TypeError(`endpoint "${endpoint}" is not a URL`);
  const send: SendGlue = async ({ url, headers, body }) => {
    const answer = await ask({
      kind: 'http',
      url,
      method: 'POST',
      headers,
      body: Buffer.from(body).toString('latin1'),
      timeoutMs: awsTimeoutMs,
    });
    if (!('status' in answer)) throw new TypeError('no answer');
    return { status: answer.status, body: Buffer.from(answer.body).toString('utf8') };
  };
  const given = endpoint === '' ? undefined : endpoint;
  const metastore = new GlueMetastore({ ...account, endpoint: given, catalogId, send });
  return { metastore, warehouse, place: `glue ${region} ${endpoint}`, catalogId };
}
