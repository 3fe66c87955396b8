import { currentSchemaVersion, migrationRequired, readSchemaVersion } from '../compose/schema-version.ts';
import type { GlobalOptions } from './global-options.ts';
import { withKv } from './open-command.ts';

/** One-off tasks by name. */
const tasks: Readonly<Record<string, string>> = {};

export function migrateVersion(globals: GlobalOptions): Promise<number> {
  return withKv(globals, async ({ kv }) => {
    const found = await readSchemaVersion(kv);
    if (found === undefined) return notInitialised();
    process.stdout.write(`schema version: ${found}\n`);
    if (found <= currentSchemaVersion) return 0;
    process.stderr.write(
      `svc: that is newer than this program knows (${currentSchemaVersion}); use a newer svc\n`,
    );
    return 1;
  });
}

/** Brings a store to the version of this program; `target` other than that one is refused. */
export function migrateTo(globals: GlobalOptions, target: number = currentSchemaVersion): Promise<number> {
  return withKv(
    globals,
    async ({ kv }) => {
      const found = await readSchemaVersion(kv);
      if (found === undefined) return notInitialised();
      if (found > currentSchemaVersion) {
        process.stderr.write(
          `svc: the store has schema version ${found}, newer than this program knows (${currentSchemaVersion})\n`,
        );
        return 1;
      }
      if (target !== currentSchemaVersion) {
        process.stderr.write(
          `svc: there is no schema version ${target}; this program knows ${currentSchemaVersion}\n`,
        );
        return 1;
      }
      if (found < currentSchemaVersion) {
        process.stderr.write(`svc: ${migrationRequired(found)}\n`);
        return 1;
      }
      process.stdout.write(`schema version ${found}: up to date\n`);
      return 0;
    },
    { alone: true },
  );
}

function notInitialised(): number {
  process.stderr.write('svc: the key-value store is not initialised; run "svc setup" first\n');
  return 1;
}

export function migrateTaskList(): number {
  for (const [name, meaning] of Object.entries(tasks)) process.stdout.write(`${name}\t${meaning}\n`);
  if (Object.keys(tasks).length === 0) process.stdout.write('there are no migration tasks in this version\n');
  return 0;
}

export function migrateTaskRun(name: string): number {
  process.stderr.write(`svc: there is no migration task "${name}"; "svc migrate task list" shows them\n`);
  return 1;
}
