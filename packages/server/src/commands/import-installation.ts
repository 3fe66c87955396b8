import {
  adoptInstallation,
  AdoptionError,
  type AdoptedInstallation,
} from '../adoption/adopt-installation.ts';
import { openAuth } from '../compose/foundation.ts';
import { checkSchemaVersion } from '../compose/schema-version.ts';
import { keepsStateInMemory, kvStoreConfig } from '../compose/store-configs.ts';
import { loadConfig, type LoadedConfig } from '../config/index.ts';
import { describeStore } from '../migration/describe-store.ts';
import type { GlobalOptions } from './global-options.ts';
import { withKv } from './open-command.ts';

/** Where lakeFS keeps the tables of a repository unless it is told otherwise. */
const lakefsPrefix = '_lakefs';

/** `svc import-installation`: what a lakeFS installation knows, into the empty store of this configuration. */
export function importInstallation(globals: GlobalOptions, file: string): Promise<number> {
  const old = loadConfig({ file, env: lakefsVariables(process.env) });
  const { database } = old.config;
  if (database.type === 'local') {
    throw new AdoptionError(
      'the embedded store of lakeFS cannot be read; dump its refs and restore them, as docs/migrating-from-lakefs.md says',
    );
  }
  return withKv(
    globals,
    async ({ config, kv, foundation }) => {
      if (keepsStateInMemory(config)) throw new AdoptionError('this configuration keeps its data in memory');
      const from = describeStore(old.config);
      if (from === describeStore(config)) {
        throw new AdoptionError(`both configurations name the same store, ${from}; give an empty one`);
      }
      const { openStore } = await import('@svc/kv');
      const source = await openStore(kvStoreConfig(old.config, 1));
      try {
        const adopted = await adoptInstallation({
          source,
          target: kv,
          from,
          secretKey: old.config.auth.encrypt.secret_key,
          metadataPrefix: prefixOf(old),
          openAuth: () => openAuth(foundation, kv),
          progress: (text) => process.stderr.write(`${text}\n`),
        });
        await checkSchemaVersion(kv);
        process.stdout.write(report(adopted));
        return adopted.lostKeys.length === 0 ? 0 : 1;
      } finally {
        await source.close();
      }
    },
    { alone: true },
  );
}

/** The file is lakeFS's: our variables are not about it, and it need not have a key that only we ask for. */
function lakefsVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const theirs = Object.entries(env).filter(([name]) => name.startsWith('LAKEFS_') || name === 'HOME');
  return { ...Object.fromEntries(theirs), SVC_BLOCKSTORE_SIGNING_SECRET_KEY: 'not used' };
}

function prefixOf({ config, sources }: LoadedConfig): string {
  const isGiven = sources.has('committed.block_storage_prefix');
  return isGiven ? config.committed.block_storage_prefix : lakefsPrefix;
}

function report(adopted: AdoptedInstallation): string {
  const { repositories, users, credentials, passwords, lostKeys, entries } = adopted;
  const lines = [
    `imported ${repositories} repositories, ${users} users and ${credentials} access keys (${entries} entries read)`,
  ];
  if (passwords > 0) lines.push(`${passwords} users had a password and need a new one; their keys work`);
  if (lostKeys.length > 0) {
    lines.push(
      `these access keys were sealed with another auth.encrypt.secret_key and were left out: ${lostKeys.join(', ')}`,
    );
  }
  lines.push('Now run "svc verify", then start the server.');
  return `${lines.join('\n')}\n`;
}
