import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigFileError } from './config-file-error.ts';
import { variableName } from './environment.ts';
import type { Key } from './key.ts';
import { ConfigError, loadConfig } from './load.ts';
import type { LoadOptions, LoadedConfig } from './load.ts';
import { printConfig, secretValues } from './print.ts';
import { namedKeys, valueAt } from './schema.ts';
import { storeSettings } from './stores.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-config-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The four keys without which nothing starts. */
const required = {
  SVC_DATABASE_TYPE: 'local',
  SVC_BLOCKSTORE_TYPE: 'local',
  SVC_BLOCKSTORE_SIGNING_SECRET_KEY: 'signing secret of the test',
  SVC_AUTH_ENCRYPT_SECRET_KEY: 'encryption secret of the test',
};

let files = 0;
function fileWith(text: string): string {
  const path = join(folder, `config-${files++}.yaml`);
  writeFileSync(path, text);
  return path;
}

function load(env: Record<string, string> = {}, yaml?: string, options: LoadOptions = {}): LoadedConfig {
  return loadConfig({
    env: { ...required, ...env },
    cwd: folder,
    ...(yaml === undefined ? {} : { file: fileWith(yaml) }),
    ...options,
  });
}

function problemsOf(run: () => unknown): readonly string[] {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

function nested(name: string, value: unknown): string {
  const root: Record<string, unknown> = {};
  let group = root;
  const parts = name.split('.');
  for (const part of parts.slice(0, -1)) {
    const inner = {};
    group[part] = inner;
    group = inner;
  }
  group[parts.at(-1) ?? name] = value;
  return JSON.stringify(root);
}

interface Example {
  readonly text: string;
  readonly value: unknown;
  /** Other settings the value needs. */
  readonly with?: Record<string, string>;
  readonly bad?: string;
}

const url = { text: 'https://example.com/x', value: 'https://example.com/x', bad: 'ftp://x' };
const disk = { text: '~/x', value: `${homedir()}/x` };

/** Values for keys whose type alone does not tell an allowed one. */
const examples: Readonly<Record<string, Example>> = {
  listen_address: { text: '[::1]:0', value: '[::1]:0', bad: 'localhost' },
  'server.workers': { text: '3', value: 3, bad: '-1' },
  'logging.level': { text: 'warning', value: 'WARN', bad: 'loud' },
  'logging.audit_log_level': { text: 'null', value: 'NONE', bad: 'loud' },
  'database.type': { text: 'POSTGRES', value: 'postgres', bad: 'mysql' },
  'database.postgres.connection_string': {
    text: 'host=db dbname=x',
    value: 'host=db dbname=x',
    bad: 'mysql://x',
  },
  'database.local.path': disk,
  'database.cosmosdb.autoscale': {
    text: 'true',
    value: true,
    with: { SVC_DATABASE_COSMOSDB_THROUGHPUT: '400' },
    bad: 'maybe',
  },
  'blockstore.type': { text: 'Memory', value: 'mem', bad: 'ftp' },
  'blockstore.local.path': disk,
  'blockstore.s3.credentials_file': disk,
  'blockstore.gs.credentials_file': disk,
  'blockstore.local.allowed_external_prefixes': {
    text: '/mnt/a, /mnt/b',
    value: ['/mnt/a', '/mnt/b'],
    bad: 'relative',
  },
  'blockstore.azure.domain': {
    text: 'blob.core.usgovcloudapi.net',
    value: 'blob.core.usgovcloudapi.net',
    bad: 'example.com',
  },
  'blockstore.gs.server_side_encryption_customer_supplied': {
    text: 'ab'.repeat(32),
    value: 'ab'.repeat(32),
    bad: 'abcd',
  },
  'blockstores.signing.secret_key': {
    text: 's',
    value: 's',
    with: {
      SVC_BLOCKSTORES_STORES: '[{"id":"a","type":"mem"}]',
      SVC_BLOCKSTORE_TYPE: '',
      SVC_BLOCKSTORE_SIGNING_SECRET_KEY: '',
    },
  },
  'committed.block_storage_prefix': { text: 'meta/x', value: 'meta/x', bad: '/meta' },
  'committed.local_cache.dir': disk,
  'committed.local_cache.range_proportion': {
    text: '0.5',
    value: 0.5,
    with: { SVC_COMMITTED_LOCAL_CACHE_METARANGE_PROPORTION: '0.5' },
    bad: '1.5',
  },
  'committed.local_cache.metarange_proportion': {
    text: '.25',
    value: 0.25,
    with: { SVC_COMMITTED_LOCAL_CACHE_RANGE_PROPORTION: '0.75' },
    bad: 'half',
  },
  'committed.local_cache.range.open_readers': { text: '900', value: 900, bad: '901' },
  'committed.local_cache.metarange.open_readers': { text: '100', value: 100, bad: '101' },
  'committed.local_cache.range.num_shards': { text: '31', value: 31, bad: '1' },
  'committed.local_cache.metarange.num_shards': { text: '31', value: 31, bad: '1' },
  'committed.permanent.min_range_size_bytes': { text: '12', value: 12, bad: '20971521' },
  'email.smtp_host': {
    text: 'mail',
    value: 'mail',
    with: { SVC_EMAIL_SMTP_PORT: '25', SVC_EMAIL_SENDER: 'a@example.com' },
  },
  'email.smtp_port': {
    text: '25',
    value: 25,
    with: { SVC_EMAIL_SMTP_HOST: 'mail', SVC_EMAIL_SENDER: 'a@example.com' },
    bad: '65536',
  },
  'email.svc_base_url': url,
  'auth.login_duration': { text: '2h45m', value: 9_900_000, bad: '200h' },
  'auth.login_max_duration': { text: '200h', value: 720_000_000, bad: '1h' },
  'auth.ui_config.rbac': { text: 'Simplified', value: 'simplified', bad: 'all' },
  'auth.remote_authenticator.enabled': {
    text: 'T',
    value: true,
    with: { SVC_AUTH_REMOTE_AUTHENTICATOR_ENDPOINT: 'http://x' },
    bad: 'yes',
  },
  'auth.oidc.enabled': {
    text: '1',
    value: true,
    with: {
      SVC_AUTH_OIDC_CLIENT_ID: 'id',
      SVC_AUTH_OIDC_CLIENT_SECRET: 'secret',
      SVC_AUTH_OIDC_URL: 'https://idp',
      SVC_AUTH_OIDC_CALLBACK_BASE_URL: 'https://svc',
    },
    bad: 'on',
  },
  'gateways.s3.domain_name': {
    text: 's3.a.com,gs3.a.com',
    value: ['s3.a.com', 'gs3.a.com'],
    bad: 'a.com,s3.a.com',
  },
};
const urls = [
  'stats.address',
  'security.audit_check_url',
  'gateways.s3.fallback_url',
  'database.dynamodb.endpoint',
  'database.cosmosdb.endpoint',
  'blockstore.s3.endpoint',
  'blockstore.s3.pre_signed_endpoint',
  'blockstore.azure.test_endpoint_url',
  'auth.api.endpoint',
  'auth.authentication_api.endpoint',
  'auth.remote_authenticator.endpoint',
  'auth.oidc.url',
  'auth.oidc.callback_base_url',
];

function exampleFor(name: string, key: Key<unknown>): Example {
  const special = examples[name] ?? (urls.includes(name) ? url : undefined);
  if (special !== undefined) return special;
  if (name.startsWith('auth.ldap.')) {
    return {
      text: 'x',
      value: 'x',
      with: {
        SVC_AUTH_LDAP_SERVER_ENDPOINT: 'x',
        SVC_AUTH_LDAP_BIND_DN: 'x',
        SVC_AUTH_LDAP_USERNAME_ATTRIBUTE: 'x',
        SVC_AUTH_LDAP_USER_BASE_DN: 'x',
      },
    };
  }
  if (/^installation\.(user_name|.*access_key.*)$/.test(name)) {
    return {
      text: 'x',
      value: 'x',
      with: {
        SVC_INSTALLATION_USER_NAME: 'x',
        SVC_INSTALLATION_ACCESS_KEY_ID: 'x',
        SVC_INSTALLATION_SECRET_ACCESS_KEY: 'x',
      },
    };
  }
  if (name.startsWith('tls.')) {
    const with_ = { SVC_TLS_CERT_FILE: import.meta.filename, SVC_TLS_KEY_FILE: import.meta.filename };
    if (name === 'tls.enabled') return { text: 'true', value: true, with: with_, bad: 'maybe' };
    return { text: import.meta.filename, value: import.meta.filename };
  }
  switch (key.type) {
    case 'string':
      return { text: '0123', value: '0123' };
    case 'bool':
      return { text: key.default === true ? 'False' : 'TRUE', value: key.default !== true, bad: 'yes' };
    case 'int':
      return { text: '1048577', value: 1_048_577, bad: '10MB' };
    case 'float':
      return { text: '0.25', value: 0.25, bad: '0,5' };
    case 'duration':
      return { text: '1.5h', value: 5_400_000, bad: '5d' };
    case 'list of strings':
      return { text: '["a", "b"]', value: ['a', 'b'] };
    case 'map of strings':
      return { text: 'Dept=R&D, team = x=y', value: { Dept: 'R&D', team: 'x=y' }, bad: 'a' };
    case 'list of objects':
      return name === 'ui.snippets'
        ? { text: '[{"id":"a","code":"b"}]', value: [{ id: 'a', code: 'b' }], bad: '{}' }
        : {
            text: '[{"id":"a","type":"mem"}]',
            value: expect.arrayContaining([expect.objectContaining({ id: 'a', type: 'mem' })]) as unknown,
            with: {
              SVC_BLOCKSTORES_SIGNING_SECRET_KEY: 's',
              SVC_BLOCKSTORE_TYPE: '',
              SVC_BLOCKSTORE_SIGNING_SECRET_KEY: '',
            },
            bad: 'nonsense',
          };
    default:
      return { text: key.type.split(' ')[0] ?? '', value: key.type.split(' ')[0], bad: 'nonsense' };
  }
}

function without(env: Record<string, string>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([variable]) => variable !== variableName(name)));
}

describe.each(namedKeys().map(({ name, key }) => [name, key] as const))('%s', (name, key) => {
  const example = exampleFor(name, key);
  const others = without({ ...required, ...example.with }, name);

  test('default', () => {
    if (key.required) {
      const { [variableName(name)]: _, ...rest } = required as Record<string, string>;
      expect(problemsOf(() => loadConfig({ env: rest, cwd: folder }))).toEqual([
        `bad configuration: missing required keys: [${name}]`,
      ]);
      return;
    }
    const value = valueAt(load().config, name);
    expect(value).toEqual(key.path ? String(key.default).replace(/^~/, homedir()) : key.default);
    expect(load().sources.has(name)).toBe(false);
  });

  test('file', () => {
    const file = fileWith(nested(name.toUpperCase(), example.text));
    const loaded = loadConfig({ env: others, file });
    expect(valueAt(loaded.config, name)).toEqual(example.value);
    expect(loaded.sources.get(name)).toEqual({ kind: 'file', from: file });
  });

  test('a variable overrides the file', () => {
    const defaultInFile = key.type === 'list of objects' || key.defaultText === '' ? undefined : key.default;
    const file = fileWith(
      defaultInFile === undefined || key.type === 'duration' ? '{}' : nested(name, defaultInFile),
    );
    const loaded = loadConfig({ env: { ...others, [variableName(name)]: example.text }, file });
    expect(valueAt(loaded.config, name)).toEqual(example.value);
    expect(loaded.sources.get(name)).toEqual({ kind: 'environment', from: variableName(name) });
  });

  test('bad value', () => {
    if (example.bad === undefined) {
      // Free text: only something that is no text at all can be wrong.
      expect(['string', 'list of strings']).toContain(key.type);
      expect(
        problemsOf(() => loadConfig({ env: others, file: fileWith(nested(name, { a: '1' })) })),
      ).not.toEqual([]);
      return;
    }
    const fromFile = problemsOf(() => loadConfig({ env: others, file: fileWith(nested(name, example.bad)) }));
    const fromEnv = problemsOf(() => load({ ...others, [variableName(name)]: example.bad ?? '' }));
    for (const problems of [fromFile, fromEnv]) {
      expect(problems).toHaveLength(1);
      expect(problems[0]).toContain(name.split('.').at(-1));
      if (key.secret) expect(problems[0]).not.toContain(example.bad);
    }
  });

  test('says so when it has no effect', () => {
    const { warnings } = load({ ...others, [variableName(name)]: example.text });
    expect(warnings.join('\n').includes(`${name} is ignored: `)).toBe(key.ignored !== undefined);
    const withoutEffect = new RegExp(
      `^(.*, )?${name}(, .*)?: without effect, .* is not part of this version$`,
      'm',
    );
    expect(withoutEffect.test(warnings.join('\n'))).toBe(key.unavailable !== undefined);
  });
});

describe('loading', () => {
  test('an empty variable counts as unset', () => {
    expect(load({ SVC_LOGGING_LEVEL: '' }, 'logging: {level: WARN}').config.logging.level).toBe('WARN');
    expect(load({ SVC_LOGGING_LEVEL: 'debug' }, 'logging: {level: WARN}').config.logging.level).toBe('DEBUG');
  });

  test('all unknown keys in one message, beside every other problem', () => {
    const problems = problemsOf(() =>
      loadConfig({
        env: {},
        file: fileWith(
          'databse: {type: local}\nlogging: {lvel: x, files_keep: -1}\nblockstore: {type: ftp}\n',
        ),
      }),
    );
    expect(problems).toEqual([
      'unknown configuration keys: databse.type, logging.lvel',
      'logging.files_keep: must be a whole number without unit, at least 0, not "-1"',
      'blockstore.type: must be one of local, s3, gs, azure, mem, not "ftp"',
      'bad configuration: missing required keys: [database.type blockstore.signing.secret_key auth.encrypt.secret_key]',
    ]);
  });

  test.each([
    [
      'SVC_DATABASE_TYPE',
      'dynamodb',
      'database.type: dynamodb is not part of this version; use local or postgres',
    ],
    ['SVC_BLOCKSTORE_TYPE', 'gs', 'blockstore.type: gs is not part of this version; use local, s3 or mem'],
    [
      'SVC_BLOCKSTORE_TYPE',
      'azure',
      'blockstore.type: azure is not part of this version; use local, s3 or mem',
    ],
    [
      'SVC_AUTH_UI_CONFIG_RBAC',
      'external',
      'auth.ui_config.rbac: external needs an authorization service, which is not part of this version; use internal',
    ],
  ])('%s=%s is refused before anything starts', (variable, value, problem) => {
    expect(problemsOf(() => load({ [variable]: value }))).toEqual([problem]);
  });

  test('durations need a unit, except 0', () => {
    const lifetime = (value: string) => load({}, `database: {postgres: {connection_max_lifetime: ${value}}}`);
    expect(() => lifetime('5')).toThrow('connection_max_lifetime');
    expect(() => lifetime('1d')).toThrow('units ns, us, ms, s, m, h');
    expect(lifetime('"5m"').config.database.postgres.connection_max_lifetime).toBe(300_000);
    expect(lifetime('0').config.database.postgres.connection_max_lifetime).toBe(0);
    expect(lifetime('1500us').config.database.postgres.connection_max_lifetime).toBeCloseTo(1.5);
  });

  test('a pair without = names the pair', () => {
    expect(() => load({ SVC_AUTH_OIDC_VALIDATE_ID_TOKEN_CLAIMS: 'a' })).toThrow('invalid key-value pair: a');
  });

  test('a map in the file keeps the case of its keys', () => {
    const { config } = load({}, 'AUTH: {oidc: {validate_id_token_claims: {Dept: R&D, team: x=y}}}');
    expect(config.auth.oidc.validate_id_token_claims).toEqual({ Dept: 'R&D', team: 'x=y' });
  });

  test('LAKEFS_ variables are a fallback with one warning', () => {
    const loaded = load({
      LAKEFS_LOGGING_LEVEL: 'TRACE',
      LAKEFS_LOGGING_FORMAT: 'json',
      SVC_LOGGING_FORMAT: 'text',
    });
    expect(loaded.config.logging).toMatchObject({ level: 'TRACE', format: 'text' });
    expect(loaded.warnings.filter((warning) => warning.includes('LAKEFS_'))).toEqual([
      expect.stringContaining('LAKEFS_LOGGING_LEVEL'),
    ]);
    expect(loaded.warnings.join()).not.toContain('LAKEFS_LOGGING_FORMAT');
  });

  test('a variable of a group may hold a JSON object; a variable of a key wins over it', () => {
    const { config } = load({ SVC_LOGGING: '{"level":"DEBUG","files_keep":3}', SVC_LOGGING_LEVEL: 'ERROR' });
    expect(config.logging).toMatchObject({ level: 'ERROR', files_keep: 3 });
    expect(() => load({ SVC_LOGGING: '{"lvel":1}' })).toThrow('unknown configuration keys: logging.lvel');
  });

  test('the misspelt and the right cache name have the same effect; both together are refused', () => {
    expect(load({}, 'graveler: {reposiory_cache: {ttl: 1s}}').config.graveler.reposiory_cache.ttl).toBe(1000);
    expect(load({}, 'graveler: {repository_cache: {expiry: 1s}}').config.graveler.reposiory_cache.ttl).toBe(
      1000,
    );
    expect(load({ SVC_GRAVELER_REPOSITORY_CACHE_TTL: '1s' }).config.graveler.reposiory_cache.ttl).toBe(1000);
    expect(() => load({}, 'graveler: {reposiory_cache: {ttl: 1s}, repository_cache: {expiry: 1s}}')).toThrow(
      'graveler.reposiory_cache.ttl and graveler.repository_cache.expiry are the same key',
    );
  });

  test('stores: duplicate ids, unknown members and the backward-compatible one', () => {
    const stores = (value: string) =>
      loadConfig({
        env: {
          ...required,
          SVC_BLOCKSTORE_TYPE: '',
          SVC_BLOCKSTORE_SIGNING_SECRET_KEY: '',
          SVC_BLOCKSTORES_SIGNING_SECRET_KEY: 's',
          SVC_BLOCKSTORES_STORES: value,
        },
        cwd: folder,
      });
    expect(() => stores('[{"id":"a","type":"mem"},{"id":"a","type":"local"}]')).toThrow('duplicate id "a"');
    expect(() => stores('[{"id":"a","type":"mem","colour":1,"s3":{"regoin":"x"}}]')).toThrow(
      'unknown configuration keys: blockstores.stores[0].colour, blockstores.stores[0].s3.regoin',
    );
    expect(() => stores('[{"id":"a","type":"ftp"}]')).toThrow('blockstores.stores[0].type: must be one of');
    expect(() =>
      stores(
        '[{"id":"a","type":"mem","backward_compatible":true},{"id":"b","type":"mem","backward_compatible":true}]',
      ),
    ).toThrow('only one store');
    const two = stores(
      '[{"id":"a","type":"mem"},{"id":"b","type":"s3","backward_compatible":true,"S3":{"endpoint":"http://x"}}]',
    );
    expect(storeSettings(two.config)).toMatchObject([
      { id: 'a', type: 'mem', backwardCompatible: false, s3: { region: 'us-east-1' } },
      { id: 'b', type: 's3', backwardCompatible: true, s3: { endpoint: 'http://x' } },
    ]);
  });

  test('blockstore and blockstores exclude each other', () => {
    const env = {
      SVC_BLOCKSTORES_SIGNING_SECRET_KEY: 's',
      SVC_BLOCKSTORES_STORES: '[{"id":"a","type":"mem"}]',
    };
    expect(() => load(env)).toThrow('blockstore and blockstores exclude each other');
  });

  test('gateway domains below each other are refused', () => {
    expect(() => load({}, 'gateways: {s3: {domain_name: [s3.example.com, s4.s3.example.com]}}')).toThrow(
      'domain names are prefixes: s3.example.com, s4.s3.example.com',
    );
    expect(() => load({}, 'gateways: {s3: {domain_name: [s3.example.com, gs3.example.com]}}')).not.toThrow();
  });

  test('cache proportions must add up', () => {
    expect(() => load({}, 'committed: {local_cache: {range_proportion: 0.8}}')).toThrow(
      'must add up to 1, not 0.9',
    );
  });

  test('lookup order, and nothing created when the configuration is bad', () => {
    const home = mkdtempSync(join(folder, 'home-'));
    const cwd = mkdtempSync(join(folder, 'cwd-'));
    const env = { ...required, HOME: home };
    expect(loadConfig({ env, cwd }).file).toBeUndefined();
    writeFileSync(join(home, '.svc.yaml'), 'logging: {level: WARN}');
    expect(loadConfig({ env, cwd }).file).toBe(join(home, '.svc.yaml'));
    mkdirSync(join(home, 'svc'));
    writeFileSync(join(home, 'svc', 'config.yaml'), 'logging: {level: ERROR}');
    expect(loadConfig({ env, cwd }).config.logging.level).toBe('ERROR');
    writeFileSync(join(cwd, 'config.yaml'), 'logging: {level: [broken');
    expect(() => loadConfig({ env, cwd })).toThrow(ConfigFileError);
    expect(() => loadConfig({ env, cwd, file: join(cwd, 'missing.yaml') })).toThrow('missing.yaml');
    expect(readdirSync(home).toSorted()).toEqual(['.svc.yaml', 'svc']);
  });

  test('scalars of the file stay what was written', () => {
    const { config } = load(
      {},
      'installation: {fixed_id: 0123}\nactions: {env: {prefix: ""}}\nui: {map_tiles_url: ~}\n',
    );
    expect(config.installation.fixed_id).toBe('0123');
    expect(config.actions.env.prefix).toBe('');
  });
});

describe('presets', () => {
  test('local settings give every required key; file and variables override them', () => {
    const bare = loadConfig({ env: {}, cwd: folder, preset: 'local-settings' });
    expect(bare.config.database.type).toBe('local');
    expect(bare.sources.get('database.type')).toEqual({ kind: 'preset', from: '--local-settings' });
    const other = loadConfig({
      env: { SVC_DATABASE_TYPE: 'postgres' },
      cwd: folder,
      preset: 'local-settings',
    });
    expect(other.config.database.type).toBe('postgres');
  });

  test('quick start refuses other stores and other installation values', () => {
    const start = (env: Record<string, string>) => loadConfig({ env, cwd: folder, preset: 'quickstart' });
    expect(start({}).config.installation.user_name).toBe('quickstart');
    expect(() => start({ SVC_BLOCKSTORE_TYPE: 's3' })).toThrow('FATAL: --quickstart needs blockstore.type');
    expect(() => start({ SVC_INSTALLATION_USER_NAME: 'x' })).toThrow(
      'FATAL: --quickstart needs installation.user_name',
    );
  });
});

describe('printing', () => {
  test('every value with its source, secrets masked', () => {
    const secret = 'a-very-secret-password';
    const loaded = load(
      {
        SVC_DATABASE_POSTGRES_CONNECTION_STRING: `postgres://u:${secret}@h/d`,
        SVC_BLOCKSTORE_TYPE: '',
        SVC_BLOCKSTORE_SIGNING_SECRET_KEY: '',
        SVC_BLOCKSTORES_SIGNING_SECRET_KEY: secret,
        SVC_BLOCKSTORES_STORES: `[{"id":"a","type":"s3","s3":{"credentials":{"secret_access_key":"${secret}"}}}]`,
      },
      'logging: {level: WARN}',
    );
    const printed = new Map(printConfig(loaded).map((line) => [line.key, line]));
    expect(JSON.stringify([...printed.values()])).not.toContain(secret);
    expect(printed.get('auth.encrypt.secret_key')?.value).toBe('******');
    expect(printed.get('email.password')?.value).toBe('------');
    expect(printed.get('logging.level')).toMatchObject({
      value: 'WARN',
      source: expect.stringContaining('file /'),
    });
    expect(printed.get('auth.login_duration')).toMatchObject({ value: '168h', source: 'default' });
    expect(printed.size).toBe(namedKeys().length);
    expect(secretValues(loaded)).toContain(secret);
  });
});
