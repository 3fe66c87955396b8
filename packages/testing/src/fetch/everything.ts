import { fetchDynamoDb } from '../servers/dynamodb.ts';
import { fetchAzurite } from '../servers/azurite.ts';
import { fetchFakeGcs } from '../servers/fake-gcs.ts';
import { fetchMoto } from '../servers/moto.ts';
import { fetchPostgres } from '../servers/postgres.ts';
import { fetchSlapd } from '../servers/slapd.ts';
import { fetchVersitygw } from '../servers/versitygw.ts';
import {
  awsClients,
  chromiumPath,
  dataClients,
  hadolint,
  lakefsJava,
  lakefsPython,
  mc,
  rclone,
} from '../tools/index.ts';

type Fetch = () => Promise<unknown>;

/** What a plain `npm test` needs, the slowest first. */
export const forQuickRun: readonly Fetch[] = [
  fetchVersitygw,
  fetchMoto,
  fetchPostgres,
  awsClients,
  fetchSlapd,
];

/** What a whole run needs. */
export const everything: readonly Fetch[] = [
  ...forQuickRun,
  fetchAzurite,
  fetchFakeGcs,
  chromiumPath,
  dataClients,
  lakefsPython,
  lakefsJava,
  fetchDynamoDb,
  rclone,
  mc,
  hadolint,
];
