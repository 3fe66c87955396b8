import { LocalCacheBus } from '@svc/kv';
import type { KvStore } from '@svc/kv';
import type { Auth } from '@svc/auth';
import { openAuth, openKv } from '../compose/foundation.ts';
import type { FoundationOptions } from '../compose/foundation.ts';
import { checkSchemaVersion } from '../compose/schema-version.ts';
import { loadConfig, withPresetSecrets } from '../config/index.ts';
import type { Config } from '../config/index.ts';
import { createLogger } from '../logging/index.ts';
import type { GlobalOptions } from './global-options.ts';

interface Opened {
  readonly config: Config;
  readonly kv: KvStore;
}

interface OpenOptions {
  /** Refuse while a server runs on the same local store. */
  readonly alone?: boolean;
}

/** Gives a command the configured key-value store and closes it afterwards. */
export async function withKv<T>(
  globals: GlobalOptions,
  use: (opened: Opened & { readonly foundation: FoundationOptions }) => Promise<T>,
  options: OpenOptions = {},
): Promise<T> {
  const { config } = withPresetSecrets(loadConfig(globals));
  const logger = createLogger({
    level: 'WARN',
    format: 'text',
    sink: { write: (line) => process.stderr.write(line) },
  });
  const foundation: FoundationOptions = { config, logger, cacheBus: new LocalCacheBus(), processes: 1 };
  const { type, local } = config.database;
  const lockable = options.alone === true && type === 'local' && !local.path.startsWith('memory:');
  const lock = lockable ? await (await import('@svc/kv')).lockLocalStore(local.path) : undefined;
  try {
    const kv = await openKv(foundation);
    try {
      return await use({ config, kv, foundation });
    } finally {
      await kv.close();
    }
  } finally {
    await lock?.release();
  }
}

/** As `withKv`, with access control on top of a store that is ours to use. */
export function withAuth<T>(
  globals: GlobalOptions,
  use: (opened: Opened & { readonly auth: Auth }) => Promise<T>,
): Promise<T> {
  return withKv(globals, async ({ config, kv, foundation }) => {
    await checkSchemaVersion(kv);
    const auth = await openAuth(foundation, kv);
    try {
      return await use({ config, kv, auth });
    } finally {
      auth.close();
    }
  });
}
