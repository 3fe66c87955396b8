import { existsSync } from 'node:fs';
import type { Source } from './load.ts';
import type { Config } from './schema.ts';

type Sources = ReadonlyMap<string, Source>;

function usesSeveralStores(sources: Sources): boolean {
  return [...sources.keys()].some((name) => name.startsWith('blockstores.'));
}

function setBySomebody(sources: Sources, prefix: string): string[] {
  return [...sources]
    .filter(([name, source]) => name.startsWith(prefix) && source.kind !== 'preset')
    .map(([name]) => name);
}

/** Required keys without a value, in the order of the documentation. */
export function missingKeys(config: Config, sources: Sources): string[] {
  const missing: string[] = [];
  if (config.database.type === '' && !sources.has('database.type')) missing.push('database.type');
  if (usesSeveralStores(sources)) {
    if (config.blockstores.signing.secret_key === '') missing.push('blockstores.signing.secret_key');
    if (config.blockstores.stores.length === 0 && !sources.has('blockstores.stores'))
      missing.push('blockstores.stores');
  } else {
    if (config.blockstore.type === '' && !sources.has('blockstore.type')) missing.push('blockstore.type');
    if (config.blockstore.signing.secret_key === '') missing.push('blockstore.signing.secret_key');
  }
  if (config.auth.encrypt.secret_key === '') missing.push('auth.encrypt.secret_key');
  return missing;
}

/** The rules that tie several keys together. */
export function validateConfig(config: Config, sources: Sources): { problems: string[]; warnings: string[] } {
  const problems: string[] = [];
  const warnings: string[] = [];
  checkStores(config, sources, problems, warnings);
  checkDatabase(config, problems, warnings);
  checkCommitted(config, problems);
  checkCollector(config, problems, warnings);
  checkAuth(config, sources, problems, warnings);
  checkEmail(config, problems);
  checkTls(config, problems);
  checkInstallation(config, problems, warnings);
  return { problems, warnings };
}

const hourMs = 3_600_000;

function checkCollector({ gc }: Config, problems: string[], warnings: string[]): void {
  const { interval, grace_period: grace, quarantine, dangling_commits: dangling } = gc;
  if (interval < hourMs) problems.push('gc.interval: must be at least 1h');
  if (grace < 24 * hourMs && gc.short_grace_test_only) {
    warnings.push(
      'gc.grace_period is shorter than 24h: collections delete data of uploads that are under way',
    );
  } else if (grace < 24 * hourMs) {
    problems.push('gc.grace_period: must be at least 24h, as long as an address may still be linked');
  }
  if (quarantine !== 0 && quarantine < 24 * hourMs) problems.push('gc.quarantine: must be 0 or at least 24h');
  if (dangling !== 0 && dangling < 720 * hourMs) {
    problems.push('gc.dangling_commits: must be 0 or at least 720h');
  }
}

type AdapterSettings = Pick<Config['blockstore'], 'azure' | 'gs'>;

function checkAdapter(name: string, settings: AdapterSettings, problems: string[], warnings: string[]): void {
  const { gs, azure } = settings;
  if (gs.server_side_encryption_customer_supplied !== '' && gs.server_side_encryption_kms_key_id !== '') {
    problems.push(
      `${name}.gs.server_side_encryption_customer_supplied and ${name}.gs.server_side_encryption_kms_key_id exclude each other; set one`,
    );
  }
  if (azure.china_cloud) {
    warnings.push(
      `${name}.azure.china_cloud is deprecated: set ${name}.azure.domain to blob.core.chinacloudapi.cn`,
    );
  }
}

function checkStores(config: Config, sources: Sources, problems: string[], warnings: string[]): void {
  if (usesSeveralStores(sources)) {
    const single = setBySomebody(sources, 'blockstore.');
    if (single.length > 0) {
      problems.push(
        `blockstore and blockstores exclude each other; remove ${single.join(', ')} or blockstores`,
      );
    }
  }
  checkAdapter('blockstore', config.blockstore, problems, warnings);
  const { stores } = config.blockstores;
  if (sources.has('blockstores.stores') && stores.length === 0) {
    problems.push('blockstores.stores: must hold at least one store, not []');
  }
  const seen = new Set<string>();
  for (const [index, store] of stores.entries()) {
    const name = `blockstores.stores[${index}]`;
    if (store.id === '') problems.push(`${name}.id: must not be empty`);
    else if (seen.has(store.id))
      problems.push(`${name}.id: duplicate id "${store.id}"; each store needs its own`);
    seen.add(store.id);
    if (store.type === '') problems.push(`${name}.type: is required: local, s3, gs, azure or mem`);
    checkAdapter(name, store, problems, warnings);
  }
  const compatible = stores.filter((store) => store.backward_compatible).map((store) => store.id);
  if (compatible.length > 1) {
    problems.push(
      `blockstores.stores: only one store may be backward_compatible, not ${compatible.join(', ')}`,
    );
  }
}

function checkDatabase(config: Config, problems: string[], warnings: string[]): void {
  const { type, cosmosdb, dynamodb, local } = config.database;
  if (type === 'cosmosdb') {
    for (const name of ['endpoint', 'database', 'container'] as const) {
      if (cosmosdb[name] === '')
        problems.push(`database.cosmosdb.${name}: is required with database.type cosmosdb`);
    }
  }
  if (cosmosdb.autoscale && (cosmosdb.throughput ?? 0) <= 0) {
    problems.push('database.cosmosdb.autoscale: needs database.cosmosdb.throughput above 0');
  }
  if (dynamodb.table_name === '') problems.push('database.dynamodb.table_name: must not be empty');
  const halfKey = (dynamodb.aws_access_key_id === '') !== (dynamodb.aws_secret_access_key === '');
  if (type === 'dynamodb' && halfKey) {
    problems.push(
      'database.dynamodb: aws_access_key_id and aws_secret_access_key are given together or not at all',
    );
  }
  if (type === 'local' && !local.sync_writes) {
    warnings.push(
      'database.local.sync_writes is false: writes acknowledged in the last moments before a power loss may be gone',
    );
  }
}

function checkCommitted(config: Config, problems: string[]): void {
  const cache = config.committed.local_cache;
  const sum = cache.range_proportion + cache.metarange_proportion;
  if (Math.abs(sum - 1) > 1e-6) {
    problems.push(
      `committed.local_cache.range_proportion and committed.local_cache.metarange_proportion must add up to 1, not ${Number(sum.toFixed(6))}`,
    );
  }
  for (const name of ['range', 'metarange'] as const) {
    const { open_readers: readers, num_shards: shards } = cache[name];
    if (shards * shards < readers) {
      problems.push(
        `committed.local_cache.${name}.num_shards: must be at least the square root of open_readers (${Math.ceil(Math.sqrt(readers))}), not ${shards}`,
      );
    }
  }
  const permanent = config.committed.permanent;
  if (permanent.min_range_size_bytes > permanent.max_range_size_bytes) {
    problems.push(
      `committed.permanent.min_range_size_bytes: must not be above max_range_size_bytes (${permanent.max_range_size_bytes}), not ${permanent.min_range_size_bytes}`,
    );
  }
}

function checkAuth(config: Config, sources: Sources, problems: string[], warnings: string[]): void {
  const { auth } = config;
  if (auth.login_duration > auth.login_max_duration) {
    problems.push('auth.login_duration: must not be longer than auth.login_max_duration');
  }
  const { rbac } = auth.ui_config;
  if (rbac === 'external' && auth.api.endpoint === '') {
    problems.push('auth.api.endpoint: is required when auth.ui_config.rbac is external');
  }
  if (rbac === 'simplified' && auth.api.endpoint !== '') {
    problems.push(
      'auth.api.endpoint: with auth.ui_config.rbac simplified, users are kept by svc; use external, or leave it empty',
    );
  }
  if ((rbac === 'none' || rbac === 'internal') && auth.api.endpoint !== '') {
    warnings.push(`auth.api.endpoint is ignored with auth.ui_config.rbac ${rbac}; use external`);
  }
  if (auth.remote_authenticator.enabled && auth.remote_authenticator.endpoint === '') {
    problems.push('auth.remote_authenticator.endpoint: is required when auth.remote_authenticator.enabled');
  }
  if (setBySomebody(sources, 'auth.ldap.').length > 0) {
    for (const name of ['server_endpoint', 'bind_dn', 'username_attribute', 'user_base_dn'] as const) {
      if (auth.ldap[name] === '')
        problems.push(`auth.ldap.${name}: is required when any auth.ldap key is set`);
    }
  }
  if (auth.ldap.start_tls && auth.ldap.server_endpoint.startsWith('ldaps:')) {
    problems.push('auth.ldap.start_tls: is for ldap:// only; ldaps:// is encrypted from the first byte');
  }
  if (auth.ldap.ca_file !== '' && !existsSync(auth.ldap.ca_file)) {
    problems.push(`auth.ldap.ca_file: there is no file ${JSON.stringify(auth.ldap.ca_file)}`);
  }
  if (auth.oidc.enabled) {
    for (const name of ['client_id', 'client_secret', 'url', 'callback_base_url'] as const) {
      if (auth.oidc[name] === '') problems.push(`auth.oidc.${name}: is required when auth.oidc.enabled`);
    }
  }
  if (auth.scim.token !== '') {
    if (!/^[\x21-\x7E]{32,}$/.test(auth.scim.token)) {
      problems.push(
        'auth.scim.token: must have at least 32 letters, digits and signs of ASCII, and no white space',
      );
    }
    if (rbac === 'external')
      problems.push('auth.scim.token: does not go with auth.ui_config.rbac external, which keeps the users');
  }
  const secret = auth.encrypt.secret_key;
  if (secret !== '' && Buffer.byteLength(secret) < 16) {
    warnings.push('auth.encrypt.secret_key is shorter than 16 bytes: use a long random text');
  }
  if (config.actions.enabled && config.actions.env.enabled && config.actions.env.prefix === '') {
    warnings.push('actions.env.prefix is empty: hooks can read every environment variable, secrets included');
  }
}

function checkEmail(config: Config, problems: string[]): void {
  const { email } = config;
  if (email.smtp_host !== '' && email.smtp_port === 0) {
    problems.push('email.smtp_port: is required with email.smtp_host (1 to 65535)');
  }
  if (email.smtp_host === '' && email.smtp_port !== 0) {
    problems.push('email.smtp_host: is required with email.smtp_port');
  }
  if (email.smtp_host !== '') {
    if (email.sender === '') problems.push('email.sender: is required with email.smtp_host');
    else if (!/^([^<>]*<)?[^\s<>@]+@[^\s<>@]+>?$/.test(email.sender)) {
      problems.push(`email.sender: must be a mail address, not ${JSON.stringify(email.sender)}`);
    }
  }
}

function checkTls(config: Config, problems: string[]): void {
  if (!config.tls.enabled) return;
  for (const name of ['cert_file', 'key_file'] as const) {
    const path = config.tls[name];
    if (path === '') problems.push(`tls.${name}: is required when tls.enabled`);
    else if (!existsSync(path)) problems.push(`tls.${name}: there is no file ${JSON.stringify(path)}`);
  }
}

function checkInstallation(config: Config, problems: string[], warnings: string[]): void {
  const { installation, database } = config;
  const names = ['user_name', 'access_key_id', 'secret_access_key'] as const;
  const empty = names.filter((name) => installation[name] === '');
  if (empty.length === names.length) return;
  for (const name of empty)
    problems.push(
      `installation.${name}: give all three of user_name, access_key_id and secret_access_key, or none`,
    );
  if (empty.length === 0 && database.type !== 'local' && database.type !== 'mem' && database.type !== '') {
    warnings.push(`installation.* is ignored with database.type ${database.type}; run "svc setup" instead`);
  }
}
