import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folder, required, fileWith, load, problemsOf } from '../../test/load-settings.ts';
import { ConfigFileError } from './config-file-error.ts';
import { loadConfig } from './load.ts';
import { printConfig, secretValues } from './print.ts';
import { namedKeys } from './schema.ts';
import { storeSettings } from './stores.ts';

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

  test('users are kept by a service exactly where one is named', () => {
    const endpoint = { SVC_AUTH_API_ENDPOINT: 'http://auth.example/api/v1' };
    const mode = (rbac: string) => ({ SVC_AUTH_UI_CONFIG_RBAC: rbac });
    expect(problemsOf(() => load(mode('external')))).toEqual([
      'auth.api.endpoint: is required when auth.ui_config.rbac is external',
    ]);
    expect(problemsOf(() => load({ ...mode('simplified'), ...endpoint }))).toEqual([
      'auth.api.endpoint: with auth.ui_config.rbac simplified, users are kept by svc; use external, or leave it empty',
    ]);
    expect(load({ ...mode('external'), ...endpoint }).warnings).toEqual([]);
    expect(load({ ...mode('internal'), ...endpoint }).warnings).toEqual([
      'auth.api.endpoint is ignored with auth.ui_config.rbac internal; use external',
    ]);
  });

  test('a short grace period is refused, except in a test that says so', () => {
    const short = { SVC_GC_GRACE_PERIOD: '1m' };
    expect(problemsOf(() => load(short))).toEqual([
      expect.stringContaining('gc.grace_period: must be at least 24h'),
    ]);
    const { config, warnings } = load({ ...short, SVC_GC_SHORT_GRACE_TEST_ONLY: 'true' });
    expect(config.gc.grace_period).toBe(60_000);
    expect(warnings).toEqual([expect.stringContaining('gc.grace_period is shorter than 24h')]);
  });

  test('half a key of AWS is refused', () => {
    const env = { SVC_DATABASE_TYPE: 'dynamodb', SVC_DATABASE_DYNAMODB_AWS_ACCESS_KEY_ID: 'id' };
    expect(problemsOf(() => load(env))).toEqual([
      'database.dynamodb: aws_access_key_id and aws_secret_access_key are given together or not at all',
    ]);
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
