import { fetchMoto } from '../servers/moto.ts';
import { fetchPostgres } from '../servers/postgres.ts';
import { fetchVersitygw } from '../servers/versitygw.ts';
import {
  awsClients,
  chromiumPath,
  dataClients,
  lakefsJava,
  lakefsPython,
  mc,
  rclone,
} from '../tools/index.ts';

/** What a whole run needs, the slowest first. */
export const everything: readonly (() => Promise<unknown>)[] = [
  fetchVersitygw,
  chromiumPath,
  fetchMoto,
  fetchPostgres,
  awsClients,
  dataClients,
  lakefsPython,
  lakefsJava,
  rclone,
  mc,
];
