import { join } from 'node:path';
import { runCommand } from '../run-command.ts';
import { fetchOnce } from './fetch-once.ts';

/** The folder of an npm package installed with all it needs, e.g. `azurite@3.36.0`. */
export async function npmPackage(packageAtVersion: string): Promise<string> {
  const name = packageAtVersion.slice(0, packageAtVersion.lastIndexOf('@'));
  const folder = await fetchOnce(
    `npm-${packageAtVersion.replaceAll('/', '-')}`,
    packageAtVersion,
    async (target) => {
      await runCommand('npm', [
        'install',
        '--prefix',
        target,
        '--no-save',
        '--no-audit',
        '--no-fund',
        packageAtVersion,
      ]);
    },
  );
  return join(folder, 'node_modules', ...name.split('/'));
}
