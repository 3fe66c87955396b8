import { resolve } from 'node:path';
import { restoreBackup } from '../backup/restore-backup.ts';
import { countText, takeBackup } from '../backup/take-backup.ts';
import { checkSchemaVersion } from '../compose/schema-version.ts';
import { loadConfig } from '../config/index.ts';
import { errorText } from '../logging/index.ts';
import type { GlobalOptions } from './global-options.ts';
import { withKv } from './open-command.ts';

const progress = (text: string): void => void process.stderr.write(`${text}\n`);

/** `svc backup`: the local stores into a folder, while a server uses them. */
export function backup(globals: GlobalOptions, path: string): Promise<number> {
  const folder = resolve(path);
  return withKv(globals, async ({ config, kv }) => {
    await checkSchemaVersion(kv);
    try {
      const { count } = await takeBackup({ config, kv, folder, progress });
      process.stdout.write(`backup taken into ${folder}: ${countText(count)}\n`);
      return 0;
    } catch (error) {
      process.stderr.write(`svc: the backup was not taken, an older one is as it was: ${diskText(error)}\n`);
      return 1;
    }
  });
}

/** `svc restore`: a backup into empty local stores. */
export async function restore(globals: GlobalOptions, path: string): Promise<number> {
  const folder = resolve(path);
  // Not with the secrets of a preset: those come with the backup.
  const { config } = loadConfig(globals);
  try {
    const { manifest, count } = await restoreBackup({ config, folder, progress });
    process.stdout.write(
      `restored the backup of ${manifest.taken_at}: ${countText(count)}\nNow run "svc verify", then start the server.\n`,
    );
    return 0;
  } catch (error) {
    process.stderr.write(`svc: the backup is not restored: ${diskText(error)}\n`);
    return 1;
  }
}

function diskText(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return `${errorText(error)}; free some space, then run the command again: it goes on where it was`;
  if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM')
    return `${errorText(error)}; give this user the right to write there`;
  return errorText(error);
}
