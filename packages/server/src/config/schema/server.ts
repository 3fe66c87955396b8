import { choice, duration, flag, fraction, integer, list, pairs, text } from '../key.ts';
import { objects } from './objects.ts';
import { checkDuration, checkListenAddress, checkNetworks, checkUrl } from './checks.ts';

export const logLevels = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'NONE'] as const;
export type LogLevel = (typeof logLevels)[number];

const spellings = { warning: 'WARN', null: 'NONE', panic: 'ERROR' } as const;

export const serverKeys = {
  listen_address: text(
    'Address of the one listener for API, gateway, UI, metrics and health; the host may be empty.',
    {
      default: '0.0.0.0:8000',
      check: checkListenAddress,
    },
  ),
  server: {
    workers: integer(0, 'HTTP worker processes; 0 starts one per core.', { min: 0, max: 1024 }),
  },
  logging: {
    format: choice(['json', 'text'], 'text', 'Form of the log lines.'),
    level: choice(
      logLevels,
      'INFO',
      'Least severe level that is written. Changes in the file apply at once.',
      {
        spellings,
      },
    ),
    audit_log_level: choice(
      logLevels,
      'DEBUG',
      'Level of the line written at the end of each request; below `logging.level` it vanishes. NONE behaves as DEBUG.',
      { spellings },
    ),
    output: list(
      'Where logs go; several are allowed: `-` standard output, `=` standard error, else a file.',
      {
        default: ['-'],
      },
    ),
    file_max_size_mb: integer(100, 'A log file is rotated at this size in MB.', { min: 1 }),
    files_keep: integer(0, 'Rotated log files kept; 0 keeps all.', { min: 0 }),
    trace_request_headers: flag(
      false,
      'At TRACE, also write request headers (credentials are always removed).',
    ),
  },
  actions: {
    enabled: flag(true, 'When false, hooks are not executed.'),
    allowed_networks: list(
      'Networks (CIDR) that hooks may call besides public addresses. When empty they may call every address but link-local ones and metadata services.',
      { check: checkNetworks },
    ),
    lua: {
      net_http_enabled: flag(false, 'Lua hooks may load the `net/http` package.'),
      timeout: text(
        'Longest run of one Lua hook, 0 for no limit. When empty: 60s while a request waits for it, else 15m.',
        { check: checkDuration },
      ),
      memory_bytes: integer(268_435_456, 'Memory limit of one Lua hook.', { min: 16_777_216 }),
    },
    env: {
      enabled: flag(true, 'Hooks may read environment variables; when false they read empty strings.'),
      prefix: text('Hooks may read only variables with this prefix; an empty prefix shows all of them.', {
        default: 'SVCACTION_',
      }),
    },
  },
  tls: {
    enabled: flag(false, 'Serve HTTPS on `listen_address`; there is no plain port then.'),
    cert_file: text('Server certificate (PEM, chain allowed); reloaded when it changes.', { path: true }),
    key_file: text('Private key (PEM); reloaded when it changes.', { path: true }),
  },
  ui: {
    enabled: flag(true, 'Serve the embedded web UI; when false `/` answers 404.'),
    map_tiles_url: text('Tile server of map previews in the UI; empty draws no map background.', {
      unavailable: 'map previews',
    }),
    snippets: objects(
      { id: text('Name of the snippet.'), code: text('HTML placed into the page.') },
      'Snippets for the UI.',
      { ignored: 'the UI loads nothing that is not its own' },
    ),
  },
  stats: {
    enabled: flag(true, 'Collect counters of what is used, shown in `/metrics` and `svcctl usage`.'),
    address: text(
      'Where the counters are posted; empty (the default) means nothing ever leaves the process.',
      {
        check: checkUrl,
      },
    ),
    flush_interval: duration('30s', 'Interval for posting statistics.', { from: 'positive' }),
    flush_size: integer(100, 'Distinct counters at which statistics are posted before the interval.', {
      min: 1,
    }),
    extended: flag(false, 'Posted counters carry hashed repository, ref and user names.'),
  },
  tracing: {
    endpoint: text(
      'OTLP/HTTP collector that traces are sent to, such as `http://localhost:4318`; empty (the default) traces nothing.',
      { check: checkUrl },
    ),
    headers: pairs('Headers of requests to the collector, for its credentials.', { secret: true }),
    sample_ratio: fraction(
      1,
      'Part of the requests that are traced; requests that bring a `traceparent` follow what it says.',
      { min: 0, max: 1 },
    ),
    service_name: text('Name of this service in traces.', { default: 'svc' }),
  },
  security: {
    audit_check_interval: duration('24h', 'Interval of the local self-audit of settings and folders.', {
      from: 'positive',
    }),
    audit_check_url: text('Service asked for alerts about this version; empty (the default) asks nobody.', {
      check: checkUrl,
    }),
    check_latest_version: flag(false, 'Ask for newer versions.', { ignored: 'the service never calls home' }),
    check_latest_version_cache: duration('1h', 'Lifetime of that answer.', {
      ignored: 'the service never calls home',
    }),
    trusted_proxies: list(
      'Addresses or CIDR blocks of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed.',
    ),
  },
  usage_report: {
    enabled: flag(true, 'Count API and gateway requests in the key-value store.'),
    flush_interval: duration('5m', 'How often the counts are written; 0 only on demand and at the end.'),
  },
  installation: {
    user_name: text('Creates this administrator at the first start; only with `database.type` local.'),
    access_key_id: text('Access key id of that administrator, used once.', { secret: true }),
    secret_access_key: text('Secret access key of that administrator, used once.', { secret: true }),
    allow_inter_region_storage: flag(true, "Allow repositories in a region other than the block store's."),
    fixed_id: text('Installation id instead of a random one, used once.'),
  },
  ugc: {
    prepare_max_file_size: integer(
      125_829_120,
      'Size at which the file of uncommitted objects (garbage collection) is closed and continued in the next call.',
      { min: 1 },
    ),
    prepare_interval: duration('1m', 'Time after which that file is closed.', { from: 'positive' }),
  },
  gc: {
    enabled: flag(false, 'Collect garbage on schedule; runs that people start work always.'),
    interval: duration(
      '24h',
      'Time between the scheduled runs of a repository; at least 1h. Repositories may have their own.',
    ),
    grace_period: duration(
      '24h',
      'Data younger than this is never collected; at least 24h, as long as an address may still be linked.',
    ),
    quarantine: duration(
      '168h',
      'How long garbage is listed before it is deleted; 0 deletes at once, else at least 24h. Repositories may have their own.',
    ),
    metadata: flag(true, 'Collect ranges and metaranges that no commit reaches, too.'),
    dangling_commits: duration(
      '0s',
      'How long commits are kept that no branch, tag, move, alias or view leads to and that are no parent of another; 0 keeps them, else at least 720h.',
    ),
    max_percent: integer(50, 'A run that would delete more of the objects than this many per cent stops.', {
      min: 0,
      max: 100,
    }),
    deletes_per_second: integer(1000, 'Objects deleted in a second; 0 means no limit.', { min: 0 }),
    lists_per_second: integer(
      50,
      'Calls in a second that list objects of a remote store; 0 means no limit.',
      { min: 0 },
    ),
    cpu_percent: integer(
      50,
      'How much of a core a run takes while it reads and compares; at 100 two threads read.',
      {
        min: 1,
        max: 100,
      },
    ),
    memory_bytes: integer(
      268_435_456,
      'Memory of a run; one that needs more stops. It grows with the commits and ranges, not with the objects.',
      { min: 134_217_728 },
    ),
    cache_dir: text(
      'Folder of temporary files and of what a run learned that the next may use; empty for `gc` in `committed.local_cache.dir`.',
    ),
    cache_size_bytes: integer(
      2_147_483_648,
      'Size of what runs learned that the next may use; what was not used for longest is removed.',
      { min: 0 },
    ),
    report_retention: duration('2160h', 'How long reports are kept; 0 keeps the last 100.'),
    short_grace_test_only: flag(
      false,
      'Let `gc.grace_period` be shorter than 24h. For tests only: uploads that are still under way, and addresses that may still be linked, lose their data.',
    ),
  },
  reflog: {
    retention: duration(
      '720h',
      'How long moves of branches and tags are shown, times like `main@{yesterday}` are answered and deletions can be taken back; 0 shows nothing. Repositories may have their own.',
    ),
    hidden_retention: duration('24h', 'The same for hidden branches, when it is shorter.'),
  },
  events: {
    retention: duration('168h', 'How long events can be read again; older ones are removed.', {
      from: 'positive',
    }),
    max_bytes: integer(1_073_741_824, 'Size of the log of events; above it the oldest are removed earlier.', {
      min: 1_048_576,
    }),
    max_streams: integer(
      1000,
      'Event streams (SSE) of a server at once. Each worker takes its share and half as many more.',
      {
        min: 0,
      },
    ),
    webhooks: {
      enabled: flag(true, 'Send events to the addresses that users subscribe; when false nothing is sent.'),
      allowed_networks: list(
        'Networks (CIDR) that subscriptions may call besides public addresses over HTTPS; into them also without TLS.',
        { check: checkNetworks },
      ),
    },
  },
  audit: {
    enabled: flag(true, 'Keep changes, logins and refusals; `GET /audit` shows who did what when.'),
    objects: flag(
      false,
      'Keep writes and deletions of single objects as well. There are many: `audit.max_bytes` may then end sooner than `audit.retention`.',
    ),
    reads: flag(false, 'Keep reads as well.'),
    retention: duration('2160h', 'How long it is kept; older entries are removed.', { from: 'positive' }),
    max_bytes: integer(
      1_073_741_824,
      'Size of the audit log; above it the oldest entries are removed earlier.',
      { min: 1_048_576 },
    ),
  },
  email_subscription: {
    enabled: flag(true, 'Subscribe to news at setup.', { ignored: 'the service never calls home' }),
  },
};

export const emailKeys = {
  email: {
    smtp_host: text('Mail host; without it mail is off.'),
    smtp_port: integer(0, 'Mail port.', { min: 0, max: 65_535 }),
    use_ssl: flag(false, 'TLS from the first byte; otherwise STARTTLS when offered.'),
    username: text('Mail account; empty sends no login.'),
    password: text('Password of the mail account.', { secret: true }),
    local_name: text('Host name sent in the greeting.', { default: 'localhost' }),
    sender: text('Sender address; required with `email.smtp_host`.'),
    limit_every_duration: duration('1m', 'Average time between mails; 0 means no limit.'),
    burst: integer(10, 'Mails that may be sent at once; 0 means none is ever sent.', { min: 0 }),
    svc_base_url: text('Base of links in invitation and reset mails.', {
      default: 'http://localhost:8000',
      check: checkUrl,
    }),
  },
};

function checkDomains(values: readonly string[]): string | undefined {
  if (values.length === 0) return 'must name at least one domain';
  for (const domain of values) {
    const above = values.find((other) => domain !== other && domain.endsWith(`.${other}`));
    if (above !== undefined) return `domain names are prefixes: ${above}, ${domain}`;
  }
  return undefined;
}

export const gatewayKeys = {
  gateways: {
    s3: {
      domain_name: list('Domain or domains of the S3 gateway, needed for virtual-host addressing.', {
        default: ['s3.svc.localhost'],
        check: checkDomains,
      }),
      region: text("Region the gateway reports; it must match the clients' region.", {
        default: 'us-east-1',
      }),
      fallback_url: text('Requests for a bucket that is no repository are forwarded here.', {
        check: checkUrl,
      }),
      verify_unsupported: flag(true, 'Answer requests for unsupported features with an error.'),
      cors: {
        origins: list(
          'Origins of pages that may use the gateway from a browser, such as `https://app.example.com`; one `*` in each may stand for anything. Empty allows none.',
        ),
        methods: list('Methods such a page may use.', { default: ['GET', 'HEAD', 'PUT', 'POST', 'DELETE'] }),
        headers: list('Request headers such a page may send; one `*` in each may stand for anything.', {
          default: ['*'],
        }),
        exposed: list('Response headers such a page may read.', {
          default: ['ETag', 'Content-Range', 'x-amz-request-id', 'x-amz-checksum-crc64nvme'],
        }),
        max_age: duration('1h', 'How long a browser may remember what is allowed.'),
      },
    },
  },
};
