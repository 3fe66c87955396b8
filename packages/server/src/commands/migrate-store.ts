import { kvStoreConfig, keepsStateInMemory } from '../compose/store-configs.ts';
import { readSchemaVersion, checkSchemaVersion } from '../compose/schema-version.ts';
import { loadConfig } from '../config/index.ts';
import { copyStore, MigrationError } from '../migration/copy-store.ts';
import { describeStore } from '../migration/describe-store.ts';
import type { GlobalOptions } from './global-options.ts';
import { withKv } from './open-command.ts';

/** `svc migrate store`: everything in the key-value store into the one of another configuration. */
export function migrateStore(globals: GlobalOptions, file: string): Promise<number> {
  const { config: next } = loadConfig({ file, env: withoutDatabase(process.env) });
  return withKv(
    globals,
    async ({ config, kv }) => {
      if (keepsStateInMemory(config) || keepsStateInMemory(next)) {
        throw new MigrationError('a store in memory cannot be copied: it ends with its server');
      }
      if (describeStore(config) === describeStore(next)) {
        throw new MigrationError(`${file} names the store that is copied from: ${describeStore(config)}`);
      }
      if ((await readSchemaVersion(kv)) === undefined) {
        throw new MigrationError(`${describeStore(config)} is not initialised: there is nothing to copy`);
      }
      await checkSchemaVersion(kv);
      const { lockLocalStore, openStore } = await import('@svc/kv');
      const lock =
        next.database.type === 'local' ? await lockLocalStore(next.database.local.path) : undefined;
      try {
        const target = await openStore(kvStoreConfig(next, 1));
        try {
          const total = await copyStore({
            source: kv,
            target,
            from: describeStore(config),
            progress: (text) => process.stderr.write(`${text}\n`),
          });
          process.stdout.write(
            `${total} entries copied from ${describeStore(config)} to ${describeStore(next)} and compared\n`,
          );
          return 0;
        } finally {
          await target.close();
        }
      } finally {
        await lock?.release();
      }
    },
    { alone: true },
  );
}

/** Variables win over files: those that name the store to copy from must not name the other one, too. */
function withoutDatabase(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(SVC|LAKEFS)_DATABASE_/.test(name)));
}
