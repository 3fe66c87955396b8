import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../run-command.ts';
import { UnavailableError } from '../unavailable-error.ts';

const helper = '/usr/lib/apt/apt-helper';

export interface DebianPackage {
  /** Its place in the archive for an architecture, e.g. `pool/main/m/minio-client/minio-client_1_amd64.deb`. */
  readonly path: (architecture: string) => string;
  /** SHA-256 by architecture. */
  readonly digests: Readonly<Record<string, string>>;
}

/**
 * Unpacks a package of Debian's archive into the folder, without installing it. It may be of another release than
 * the machine's. Archives keep no old versions for ever: have a second way.
 */
export async function unpackDebianPackage(wanted: DebianPackage, folder: string): Promise<void> {
  if (!existsSync(helper)) throw new UnavailableError('this machine does not know the Debian archive');
  const architecture = (await runCommand('dpkg', ['--print-architecture'])).trim();
  const digest = wanted.digests[architecture];
  if (digest === undefined) throw new UnavailableError(`there is no package for ${architecture}`);
  const file = join(folder, 'package.deb');
  await download(wanted.path(architecture), digest, file);
  await runCommand('dpkg-deb', ['-x', file, folder]);
  await rm(file);
}

/** From the first of the machine's mirrors that has it. */
async function download(path: string, digest: string, file: string): Promise<void> {
  const mirrors = await runCommand('apt-get', [
    'indextargets',
    '--format',
    '$(REPO_URI)',
    'Created-By: Packages',
  ]);
  const failures: string[] = [];
  for (const mirror of new Set(mirrors.split('\n').filter((line) => line !== ''))) {
    try {
      await runCommand(helper, ['download-file', `${mirror}${path}`, file, `SHA256:${digest}`]);
      return;
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new UnavailableError(`no mirror has ${path}:\n${failures.join('\n')}`);
}
