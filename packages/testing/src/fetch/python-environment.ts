import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { runCommand } from '../run-command.ts';
import { fetchOnce } from './fetch-once.ts';

/** The path of a Python interpreter whose virtual environment holds exactly these pinned packages. */
export async function pythonEnvironment(requirements: readonly string[]): Promise<string> {
  const sorted = [...requirements].sort();
  const digest = createHash('sha256').update(sorted.join('\n')).digest('hex').slice(0, 12);
  const folder = await fetchOnce(`python-${digest}`, sorted.join(', '), async (target) => {
    const environment = join(target, 'venv');
    // The outer pip installs into it, and nothing is compiled before it is used: half of the time is saved.
    await runCommand('python3', ['-m', 'venv', '--without-pip', environment]);
    await runCommand('python3', [
      '-m',
      'pip',
      '--python',
      join(environment, 'bin', 'python'),
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '--no-input',
      '--no-compile',
      ...sorted,
    ]);
  });
  return join(folder, 'venv', 'bin', 'python');
}

/** A program that these packages bring, e.g. one that a wheel holds ready made. */
export async function pythonProgram(name: string, requirements: readonly string[]): Promise<string> {
  return join(await pythonEnvironment(requirements), '..', name);
}
