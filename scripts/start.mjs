// `npm start`: the quick start on the embedded store. Further arguments go to `svc run`.
// Set-up and service share one process: on the second start there is nothing to set up, and the service is
// there within a second. Only the very first start has to go on with the Node.js version it has just installed.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { bootstrap, projectNode } from './bootstrap.mjs';

bootstrap({ build: true });
if (Number.parseInt(process.versions.node) < 26) {
  const child = spawn(projectNode, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  // The service decides when it has drained; this process only passes on what it is told. Ctrl-C reaches both by
  // itself, and the service would take a second one for impatience.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // npm puts a shell between itself and us: a signal ends npm and the shell, and we never hear of it.
  const { ppid } = process;
  const orphaned = setInterval(() => {
    if (process.ppid === ppid) return;
    clearInterval(orphaned);
    child.kill('SIGTERM');
  }, 250).unref();
  child.on('exit', (code, signal) => {
    process.exit(code ?? (signal === 'SIGINT' ? 130 : 1));
  });
} else {
  // A first look should show how to use the service, not its log; SVC_LOGGING_LEVEL=INFO shows that too.
  process.env.SVC_LOGGING_LEVEL ??= 'WARN';
  process.argv.splice(2, 0, 'run', '--quickstart');
  await import('../dist/svc.js');
}
