import type { Auth } from '@svc/auth';
import type { BlockStores } from '@svc/block';
import type { Config } from '../config/index.ts';
import type { Logger } from '../logging/index.ts';

interface PrepareOptions {
  readonly config: Config;
  readonly auth: Auth;
  readonly blocks: BlockStores;
  readonly logger: Logger;
}

/** The checks before anyone listens, and the first administrator of a new local installation. */
export async function prepareInstallation(options: PrepareOptions): Promise<void> {
  await options.auth.checkServices();
  for (const adapter of options.blocks.list()) {
    if (adapter.info.productionSafe) continue;
    options.logger.warn(
      { blockstore: adapter.type },
      'this block store is not for production: its data is lost',
    );
  }
  await createFirstAdministrator(options);
}

async function createFirstAdministrator({ config, auth, logger }: PrepareOptions): Promise<void> {
  const {
    user_name: username,
    access_key_id: accessKeyId,
    secret_access_key: secretAccessKey,
  } = config.installation;
  if (username === '' || accessKeyId === '' || secretAccessKey === '') return;
  if (config.database.type !== 'local' && config.database.type !== 'mem') return;
  if ((await auth.setup.state()).initialized) return;
  await auth.setup.run({ username, key: { accessKeyId, secretAccessKey } });
  logger.info({ user: username }, 'created the first administrator');
}
