import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Output } from '../output/output.ts';

/** Keys that differ only in case would overwrite each other on such a file system. */
export function warnIfCaseInsensitive(out: Output, folder: string, environment: NodeJS.ProcessEnv): void {
  if (environment['SVCCTL_SUPPRESS_CASE_INSENSITIVE_WARNING'] !== undefined) return;
  let at = folder;
  while (!existsSync(at)) at = dirname(at);
  const name = randomBytes(6).toString('hex');
  const file = join(at, `.cAsE.${name}`);
  try {
    writeFileSync(file, '', { flag: 'wx' });
    if (existsSync(join(at, `.case.${name}`))) {
      out.warning(
        `${at} is on a file system that does not tell upper from lower case: such keys may collide`,
      );
    }
  } catch {
    // A folder that cannot be written to fails later, with a better message.
  } finally {
    rmSync(file, { force: true });
  }
}
