import { choice, duration, flag, fraction, integer, optionalInteger, text } from '../key.ts';
import { checkPostgres, checkUrl } from './checks.ts';

export const databaseKeys = {
  database: {
    type: choice(
      ['postgres', 'dynamodb', 'cosmosdb', 'local', 'mem'],
      '',
      'Kind of key-value store. `mem` is for tests: it forgets everything at the end.',
      {
        required: true,
        unknown: (value) => `unknown driver: ${value}; use postgres, dynamodb, cosmosdb or local`,
      },
    ),
    drop_tables: flag(false, 'Drop tables at start.', { ignored: 'the service never drops tables' }),
    postgres: {
      connection_string: text(
        'URL or connection string; `search_path` chooses the schema, the parameter `svckv_table` the table.',
        {
          default: 'postgres://localhost:5432/postgres?sslmode=disable',
          secret: true,
          check: checkPostgres,
        },
      ),
      max_open_connections: integer(25, 'Connections of this server, divided among its worker processes.', {
        min: 1,
      }),
      max_idle_connections: integer(25, 'Idle connections kept.', { min: 0 }),
      connection_max_lifetime: duration('5m', 'A connection is replaced after this time; 0 never.'),
      scan_page_size: integer(1000, 'Rows fetched at once by a scan.', { min: 1 }),
      metrics: flag(false, 'Expose pool metrics.', { ignored: 'pool metrics are always exposed' }),
    },
    dynamodb: {
      table_name: text('Table; created when missing.', { default: 'kvstore' }),
      scan_limit: integer(1025, 'Largest page of a query.', { min: 1 }),
      endpoint: text('Other endpoint.', { check: checkUrl }),
      aws_region: text('Region; empty uses the usual AWS settings.'),
      aws_profile: text('Named profile of the AWS settings.'),
      aws_access_key_id: text('Static access key id.', { secret: true }),
      aws_secret_access_key: text('Static secret access key.', { secret: true }),
      health_check_interval: duration('0s', 'Interval of a table check in the log; 0 makes none.'),
      max_attempts: integer(10, 'Attempts per call.', { min: 1 }),
      max_connections: integer(0, 'Sockets per host, divided among the worker processes; 0 is unlimited.', {
        min: 0,
      }),
      credentials_cache_expiry_window: duration(
        '200s',
        'Credentials are renewed this long before they end.',
        {
          ignored: 'credentials are renewed as the AWS settings say',
        },
      ),
      credentials_cache_expiry_window_jitter_fraction: fraction(0.5, 'Random part of that window.', {
        ignored: 'credentials are renewed as the AWS settings say',
      }),
    },
    cosmosdb: {
      key: text('Account key; empty uses the default cloud identity.', { secret: true }),
      endpoint: text('Account endpoint; required for this type.', { check: checkUrl }),
      database: text('Database; required for this type, created when missing.'),
      container: text('Container; required for this type, created when missing.'),
      throughput: optionalInteger('Throughput of a container that is created.', {
        min: 0,
        max: 2_147_483_647,
      }),
      autoscale: flag(false, 'The throughput scales by itself; needs `database.cosmosdb.throughput`.'),
    },
    local: {
      path: text('Folder of the embedded store, created when missing; `memory:` keeps it in memory.', {
        default: '~/svc/metadata',
        path: true,
      }),
      sync_writes: flag(true, 'A write is on disk before it is acknowledged. false trades that for speed.'),
      prefetch_size: integer(256, 'Values read ahead by a scan.', {
        min: 0,
        ignored: 'the embedded store maps its file and needs no read-ahead',
      }),
      enable_logging: flag(false, 'Log of the embedded store.', {
        ignored: 'the embedded store has no log of its own',
      }),
    },
  },
};
