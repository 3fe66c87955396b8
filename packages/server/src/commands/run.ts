import { availableParallelism } from 'node:os';
import { lockLocalStore } from '@svc/kv';
import type { LoadedConfig } from '../config/index.ts';
import { isLoopback, loadConfig, printConfig, withPresetSecrets } from '../config/index.ts';
import { keepsStateInMemory } from '../compose/store-configs.ts';
import { publicUrl } from '../http/address.ts';
import { LogOutputs, createLogger, errorText } from '../logging/index.ts';
import type { RootLogger } from '../logging/index.ts';
import { Supervisor } from '../processes/supervisor.ts';
import type { ServerAddress } from '../processes/messages.ts';
import { describeStartError } from '../processes/start-error.ts';
import { whenOrphaned } from '../processes/when-orphaned.ts';
import { FileWatch } from '../processes/watch-file.ts';
import type { WorkerProcesses } from '../processes/worker-processes.ts';
import { version } from '../version.ts';
import { banner } from './banner.ts';
import type { GlobalOptions } from './global-options.ts';

interface RunOptions {
  readonly allowMismatchedRepositories: boolean;
  readonly processes: WorkerProcesses;
}

/** `svc run`: the primary process, from the configuration to the last drained request. Returns the exit code. */
export async function run(globals: GlobalOptions, options: RunOptions): Promise<number> {
  const loaded = withPresetSecrets(loadConfig(globals));
  const { config } = loaded;
  if (loaded.preset !== undefined) {
    process.stderr.write(`WARNING: --${loaded.preset} is for trying things out, not for production.\n`);
  }
  const outputs = new LogOutputs({
    outputs: config.logging.output,
    format: config.logging.format,
    maxBytes: config.logging.file_max_size_mb * 1_000_000,
    keep: config.logging.files_keep,
  });
  const logger = createLogger({ level: config.logging.level, format: config.logging.format, sink: outputs });
  logger.info(Object.fromEntries(printConfig(loaded).map(({ key, value }) => [key, value])), 'Config');
  for (const warning of loaded.warnings) logger.warn({}, warning);

  const lock = await lockStore(loaded);
  const oneProcess = keepsStateInMemory(config);
  const supervisor = new Supervisor({
    processes: options.processes,
    config,
    workers: oneProcess ? 1 : config.server.workers === 0 ? availableParallelism() : config.server.workers,
    oneProcess,
    allowMismatchedRepositories: options.allowMismatchedRepositories,
    trial: loaded.preset !== undefined,
    logger,
    logSink: outputs,
  });
  const stopped = stopOnSignal(supervisor);
  const watched = watchedFiles(globals, loaded, logger, supervisor);
  let exitCode = 0;
  try {
    const started = await Promise.race([supervisor.start(), stopped]);
    if (started !== undefined) {
      announce(loaded, logger, started);
      for (const { watch, changed } of watched) watch.start(changed);
    }
    await stopped;
    for (const { watch } of watched) watch.stop();
  } catch (error) {
    exitCode = 1;
    const sentence = describeStartError(error, config);
    logger.error({ error: sentence }, 'the server cannot start');
    process.stderr.write(`svc: ${sentence}\n`);
    await supervisor.stop();
  }
  await lock?.release();
  await outputs.close();
  return exitCode;
}

function lockStore({ config }: LoadedConfig): ReturnType<typeof lockLocalStore> | undefined {
  const { type, local } = config.database;
  if (type !== 'local' || local.path.startsWith('memory:')) return undefined;
  return lockLocalStore(local.path);
}

/** Resolves when everything has stopped after the first signal; the second one ends the process at once. */
function stopOnSignal(supervisor: Supervisor): Promise<undefined> {
  return new Promise((resolve, reject) => {
    let signals = 0;
    const onSignal = (): void => {
      signals++;
      if (signals > 1) {
        supervisor.killAll();
        process.exit(1);
      }
      process.stderr.write('Shutting down...\n');
      supervisor.stop().then(() => resolve(undefined), reject);
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
    if (isStartedByNpm()) whenOrphaned(onSignal);
  });
}

/** npm puts a shell between itself and us: a signal ends npm and the shell, and we never hear of it. */
function isStartedByNpm(): boolean {
  return process.env['npm_command'] === 'exec' || process.env['npm_command'] === 'start';
}

function announce({ config, preset }: LoadedConfig, logger: RootLogger, address: ServerAddress): void {
  const url = publicUrl(address.host, address.port, config.tls.enabled);
  logger.info({ listen_address: `${address.host}:${address.port}`, version }, 'serving requests');
  process.stderr.write(
    banner({
      version,
      url,
      credentials:
        preset === 'quickstart'
          ? {
              accessKeyId: config.installation.access_key_id,
              secretAccessKey: config.installation.secret_access_key,
            }
          : undefined,
      reach:
        preset === undefined
          ? undefined
          : isLoopback(config.listen_address)
            ? 'this machine'
            : 'other machines',
    }),
  );
}

interface WatchedFile {
  readonly watch: FileWatch;
  readonly changed: () => void;
}

/** The level of the log and the TLS files may change while the server runs, and while it starts. */
function watchedFiles(
  globals: GlobalOptions,
  loaded: LoadedConfig,
  logger: RootLogger,
  supervisor: Supervisor,
): WatchedFile[] {
  const { config, file } = loaded;
  const watched: WatchedFile[] = [];
  if (file !== undefined) {
    let { level } = config.logging;
    const changed = (): void => {
      try {
        const now = loadConfig({ ...globals, file }).config.logging.level;
        if (now === level) return;
        level = now;
        logger.setLevel(level);
        supervisor.setLevel(level);
        logger.info({ level }, 'log level changed');
      } catch (error) {
        logger.error({ error: errorText(error), file }, 'the changed configuration file is ignored');
      }
    };
    watched.push({ watch: new FileWatch(file), changed });
  }
  if (config.tls.enabled) {
    for (const path of new Set([config.tls.cert_file, config.tls.key_file])) {
      watched.push({ watch: new FileWatch(path), changed: () => supervisor.reloadTls() });
    }
  }
  return watched;
}
