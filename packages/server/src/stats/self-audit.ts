import { stat } from 'node:fs/promises';
import { developmentSecrets, quickstartCredentials, signingSecret, storeSettings } from '../config/index.ts';
import type { Config } from '../config/index.ts';
import { parseListenAddress } from '../http/address.ts';

/** Something an administrator should change; `id` stays the same over versions. */
export interface AuditFinding {
  readonly id: string;
  readonly description: string;
}

interface AuditOptions {
  readonly config: Config;
  /** True when the key is still able to log in. */
  readonly hasAccessKey: (accessKeyId: string) => Promise<boolean>;
}

/** Looks for settings and folders that are unsafe. Asks nobody outside this machine. */
export async function auditInstallation(options: AuditOptions): Promise<AuditFinding[]> {
  const { config } = options;
  return [
    ...auditSecrets(config),
    ...auditListener(config),
    ...(await auditFolders(config)),
    ...((await options.hasAccessKey(quickstartCredentials.accessKeyId))
      ? [
          {
            id: 'quickstart-credentials',
            description: `the quick-start access key ${quickstartCredentials.accessKeyId} is valid and publicly known; delete it`,
          },
        ]
      : []),
  ];
}

function auditSecrets(config: Config): AuditFinding[] {
  const known: readonly string[] = Object.values(developmentSecrets);
  const secrets = [
    ['auth.encrypt.secret_key', config.auth.encrypt.secret_key],
    ['blockstore.signing.secret_key', signingSecret(config)],
  ] as const;
  return secrets.flatMap(([key, value]) => {
    if (known.includes(value)) {
      return [
        {
          id: 'development-secret',
          description: `${key} is the development secret of a preset; set your own`,
        },
      ];
    }
    if (Buffer.byteLength(value) < 16 || new Set(value).size < 6) {
      return [
        { id: 'weak-secret', description: `${key} is short or simple; use at least 16 random characters` },
      ];
    }
    return [];
  });
}

function auditListener(config: Config): AuditFinding[] {
  const { host } = parseListenAddress(config.listen_address);
  const local = host === 'localhost' || host === '::1' || host.startsWith('127.');
  if (local || config.tls.enabled || config.security.trusted_proxies.length > 0) return [];
  return [
    {
      id: 'plain-http',
      description: `${config.listen_address} is reachable from other machines without TLS; set tls.enabled, or listen on 127.0.0.1 behind a proxy named in security.trusted_proxies`,
    },
  ];
}

async function auditFolders(config: Config): Promise<AuditFinding[]> {
  const folders = [
    ...(config.database.type === 'local'
      ? [['database.local.path', config.database.local.path] as const]
      : []),
    ...storeSettings(config)
      .filter((store) => store.type === 'local')
      .map((store) => ['blockstore.local.path', store.local.path] as const),
    ['committed.local_cache.dir', config.committed.local_cache.dir] as const,
  ];
  const findings = await Promise.all(
    folders.map(async ([key, path]) => {
      const mode = await stat(path).then(
        (found) => found.mode,
        () => 0,
      );
      return (mode & 0o007) === 0
        ? []
        : [
            {
              id: 'open-folder',
              description: `every user of this machine can look into ${path} (${key}); run "chmod o= ${path}"`,
            },
          ];
    }),
  );
  return findings.flat();
}
