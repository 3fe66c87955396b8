import { homedir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { folder, required, fileWith, load, problemsOf, nested } from '../../test/load-settings.ts';
import { variableName } from './environment.ts';
import type { Key } from './key.ts';
import { loadConfig } from './load.ts';
import { namedKeys, valueAt } from './schema.ts';

interface Example {
  readonly text: string;
  readonly value: unknown;
  /** Other settings the value needs. */
  readonly with?: Record<string, string>;
  readonly bad?: string;
}

const url = { text: 'https://example.com/x', value: 'https://example.com/x', bad: 'ftp://x' };
const networks = {
  text: '10.0.0.0/8, fd00::/8',
  value: ['10.0.0.0/8', 'fd00::/8'],
  bad: '10.0.0.0/33',
};
const disk = { text: '~/x', value: `${homedir()}/x` };

/** Values for keys whose type alone does not tell an allowed one. */
const examples: Readonly<Record<string, Example>> = {
  listen_address: { text: '[::1]:0', value: '[::1]:0', bad: 'localhost' },
  'server.workers': { text: '3', value: 3, bad: '-1' },
  'logging.level': { text: 'warning', value: 'WARN', bad: 'loud' },
  'logging.audit_log_level': { text: 'null', value: 'NONE', bad: 'loud' },
  'actions.allowed_networks': networks,
  'events.webhooks.allowed_networks': networks,
  'actions.lua.timeout': { text: '1m30s', value: '1m30s', bad: 'soon' },
  'actions.lua.memory_bytes': { text: '33554432', value: 33_554_432, bad: '1024' },
  'gc.grace_period': { text: '36h', value: 36 * 3_600_000, bad: '1h' },
  'gc.quarantine': { text: '48h', value: 48 * 3_600_000, bad: '1h' },
  'gc.dangling_commits': { text: '800h', value: 800 * 3_600_000, bad: '24h' },
  'gc.memory_bytes': { text: '500000000', value: 500_000_000, bad: '1000000' },
  'gc.max_percent': { text: '70', value: 70, bad: '101' },
  'gc.cpu_percent': { text: '80', value: 80, bad: '0' },
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
  'auth.scim.token': { text: 't'.repeat(32), value: 't'.repeat(32), bad: 'short' },
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
  'tracing.endpoint',
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
    const directory = 'ldap://directory.example';
    const value =
      name === 'auth.ldap.server_endpoint'
        ? directory
        : name === 'auth.ldap.ca_file'
          ? import.meta.filename
          : 'x';
    const isFlag = key.type === 'bool';
    return {
      text: isFlag ? 'true' : value,
      value: isFlag ? true : value,
      ...(isFlag && { bad: 'yes' }),
      with: {
        SVC_AUTH_LDAP_SERVER_ENDPOINT: directory,
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
      return { text: 'Dept=R&D, team = x=y', value: { Dept: 'R&D', team: 'x=y' }, bad: 'no pair' };
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
