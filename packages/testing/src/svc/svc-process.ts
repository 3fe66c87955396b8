import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runBook } from '../secrets/run-book.ts';
import type { SecretBook } from '../secrets/secret-book.ts';
import { noteArguments, noteEnvironment, noteSettings } from '../secrets/secrets-of.ts';
import { compileCache, tempDir } from '../temp-dir.ts';
import { waitUntil } from '../wait-until.ts';
import { svcBundle } from './svc-bundle.ts';

export interface FinishedProcess {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface SvcProcess {
  readonly url: string;
  readonly home: string;
  readonly child: ChildProcessWithoutNullStreams;
  /** What it has written so far. */
  readonly output: { readonly stdout: string; readonly stderr: string };
  readonly finished: Promise<FinishedProcess>;
  /** Keeps its metrics with the logs of the run, then ends it as an operator would. */
  readonly stop: () => Promise<FinishedProcess>;
}

export interface SvcStart {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly home?: string;
  /** The program in this folder, instead of what is built here. */
  readonly bundle?: string;
}

/** Bodies and headers are logged, too, so that secrets have every chance to be. */
export const chattyLogging = {
  SVC_LOGGING_LEVEL: 'TRACE',
  SVC_LOGGING_TRACE_REQUEST_HEADERS: 'true',
  SVC_LOGGING_FORMAT: 'json',
} as const;

/** Runs a command of `svc` to its end. */
export function runSvcCommand({
  args = [],
  env = {},
  home = tempDir(),
  bundle = svcBundle(),
}: SvcStart): Promise<FinishedProcess> {
  const { finished } = spawnSvc(join(bundle, 'svc.js'), args, env, home);
  // Commands print credentials for people to keep; their messages must not hold any.
  void finished.then(({ stderr }) => runBook().log(`svc-${args[0]}-stderr.log`, stderr));
  return finished;
}

/** Starts `svc run` from the bundle on a free port and waits until it serves. Its logs are searched when the run ends. */
export async function startSvcProcess(start: SvcStart = {}): Promise<SvcProcess> {
  const { args = ['--quickstart'], env = {}, home = tempDir(), bundle = svcBundle() } = start;
  const book = runBook();
  const tap = pathToFileURL(join(import.meta.dirname, '../secrets/wire-tap.ts'));
  tap.searchParams.set('folder', join(book.logs, '..'));
  const { child, output, finished } = spawnSvc(
    join(bundle, 'svc.js'),
    ['run', ...args],
    { SVC_LISTEN_ADDRESS: '127.0.0.1:0', ...env },
    home,
    ['--import', tap.href],
  );
  const label = `svc-${child.pid}`;
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (text: string) => book.log(`${label}-${name}.log`, text));
  let ended: FinishedProcess | undefined;
  void finished.then((result) => (ended = result));
  const url = await waitUntil(
    () => (ended === undefined ? /is serving at (\S+)/.exec(output.stderr)?.[1] : 'ended'),
    { timeoutMs: 60_000, what: 'the server to start' },
  ).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  if (ended !== undefined)
    throw new Error(`svc run ended with ${ended.code}: ${ended.stderr}${ended.stdout.slice(-3000)}`);
  return {
    url,
    home,
    child,
    output,
    finished,
    async stop() {
      await keepMetrics(book, label, url);
      child.kill('SIGTERM');
      return await finished;
    },
  };
}

async function keepMetrics(book: SecretBook, label: string, url: string): Promise<void> {
  try {
    book.log(
      `${label}-metrics.log`,
      await (await fetch(`${url}/metrics`, { headers: { connection: 'close' } })).text(),
    );
  } catch {
    // It has ended already, or speaks TLS with a certificate of its own.
  }
}

function spawnSvc(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  home: string,
  runtimeArgs: readonly string[] = [],
): Pick<SvcProcess, 'child' | 'output' | 'finished'> {
  noteStart(args, env, home);
  const child = spawn(process.execPath, [...runtimeArgs, program, ...args], {
    cwd: home,
    // Only what a test sets: variables of the machine must not reach the server.
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      NO_COLOR: '1',
      NODE_COMPILE_CACHE: compileCache(join(runBook().logs, '..')),
      ...env,
    },
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  const finished = new Promise<FinishedProcess>((resolve) => {
    child.on('close', (code) => resolve({ code, ...output }));
  });
  return { child, output, finished };
}

/** The secrets that it is started with. */
function noteStart(args: readonly string[], env: Readonly<Record<string, string>>, home: string): void {
  const book = runBook();
  const note = book.note.bind(book);
  noteEnvironment(note, env);
  noteArguments(note, args);
  const named = args[args.findIndex((arg) => arg === '--config' || arg === '-c') + 1];
  for (const file of [named, 'config.yaml', 'svc/config.yaml', '.svc.yaml']) {
    const path = file === undefined ? '' : join(file.startsWith('/') ? '' : home, file);
    if (/\.ya?ml$|\.json$/.test(path) && existsSync(path))
      noteSettings(note, path, readFileSync(path, 'utf8'));
  }
}
