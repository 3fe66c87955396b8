// The whole static gate: type check, lint, format, and the rules of this repository. Every step runs even when an earlier one fails.
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const bin = (name: string): string => join(root, 'node_modules', '.bin', name);

interface Step {
  name: string;
  command: string;
  args: string[];
}

const steps: Step[] = [
  {
    // The rules that know types need the whole program anyway: its own errors cost nothing more.
    name: 'types and lint',
    command: bin('oxlint'),
    args: ['--type-aware', '--type-check', '--deny-warnings', 'packages', 'bench', 'scripts'],
  },
  { name: 'format', command: bin('oxfmt'), args: ['--check', 'packages', 'bench', 'scripts'] },
  {
    name: 'configuration readers',
    command: process.execPath,
    args: [join(root, 'scripts', 'check-config-readers.ts')],
  },
  {
    name: 'operations',
    command: process.execPath,
    args: [join(root, 'scripts', 'check-operations.ts')],
  },
  { name: 'errors', command: process.execPath, args: [join(root, 'scripts', 'check-errors.ts')] },
  { name: 'imports', command: process.execPath, args: [join(root, 'scripts', 'check-imports.ts')] },
  { name: 'dependencies', command: process.execPath, args: [join(root, 'scripts', 'check-dependencies.ts')] },
  { name: 'file sizes', command: process.execPath, args: [join(root, 'scripts', 'check-file-sizes.ts')] },
];

function run(step: Step): Promise<boolean> {
  const started = performance.now();
  return new Promise((resolve) => {
    const output: Buffer[] = [];
    const child = spawn(step.command, step.args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
    child.on('close', (code) => {
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${step.name} (${seconds} s)`);
      if (code !== 0) process.stdout.write(Buffer.concat(output));
      resolve(code === 0);
    });
  });
}

const results = await Promise.all(steps.map(run));
process.exit(results.every(Boolean) ? 0 : 1);
