import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { fetchOnce } from '../fetch-once.ts';
import { runCommand } from '../run-command.ts';

/** The path of a Python interpreter whose virtual environment holds exactly these pinned packages. */
export async function pythonEnvironment(requirements: readonly string[]): Promise<string> {
  const sorted = [...requirements].sort();
  const digest = createHash('sha256').update(sorted.join('\n')).digest('hex').slice(0, 12);
  const folder = await fetchOnce(`python-${digest}`, async (target) => {
    const environment = join(target, 'venv');
    await runCommand('python3', ['-m', 'venv', environment]);
    await runCommand(join(environment, 'bin', 'python'), [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '--no-input',
      ...sorted,
    ]);
  });
  return join(folder, 'venv', 'bin', 'python');
}
