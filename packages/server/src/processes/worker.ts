import { createLogger } from '../logging/index.ts';
import type { RoleContext, RunningRole } from '../roles/role.ts';
import { WorkerExchange } from './exchange.ts';
import { leaveThreadsSmall } from './heap-room.ts';
import { LogPipe } from './log-pipe.ts';
import type { Role, ServerAddress, StartMessage, ToPrimary, ToWorker } from './messages.ts';
import { describeStartError } from './start-error.ts';

export type StartRole = (context: RoleContext) => Promise<RunningRole>;

/** Becomes one of the processes of a server. The code of its role loads while the first message is on its way. */
export function runWorker(roles: Readonly<Record<Role, () => Promise<StartRole>>>, role: Role): void {
  leaveThreadsSmall();
  const loading = roles[role]();
  // Reported by `start`, which waits for it.
  loading.catch(() => {});
  // A terminal signals the whole group: when to end is for the primary to say.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => {});
  const send = (message: ToPrimary): void => {
    if (process.connected) process.send?.(message, undefined, undefined, () => {});
  };
  const exchange = new WorkerExchange(send);
  const pipe = new LogPipe();
  const rootKey = Promise.withResolvers<Uint8Array>();
  // Reported by whoever waits for it.
  rootKey.promise.catch(() => {});
  const listen = Promise.withResolvers<ServerAddress>();
  listen.promise.catch(() => {});
  let running: Promise<RunningRole> | undefined;
  let ending: Promise<void> | undefined;

  const end = (): Promise<void> => {
    ending ??= (async () => {
      // A role that did not start was reported, and there is nothing to stop.
      const role = await running?.catch(() => undefined);
      await role?.stop();
      await pipe.close();
      process.exit(0);
    })();
    return ending;
  };
  const fail = async (message: string): Promise<void> => {
    const failed: ToPrimary = { type: 'failed', message };
    // The sentence must have left before this process does.
    await new Promise<void>((resolve) => {
      if (process.send === undefined || !process.connected) resolve();
      else process.send(failed, undefined, undefined, () => resolve());
    });
    await pipe.close();
    process.exit(1);
  };

  process.on('message', (message: ToWorker) => {
    switch (message.type) {
      case 'start':
        running = start(loading, message, {
          rootKey: rootKey.promise,
          listen: listen.promise,
          reached: (step) => send({ type: 'reached', step }),
          exchange,
          pipe,
        });
        running.then(
          (role) => send({ type: 'ready', address: role.address }),
          // Told to end before it listened: that is no failure.
          (error: unknown) =>
            ending === undefined ? fail(describeStartError(error, message.config)) : undefined,
        );
        break;
      case 'root-key':
        rootKey.resolve(Buffer.from(message.key, 'base64'));
        break;
      case 'listen':
        listen.resolve(message.address);
        break;
      case 'serve':
        void running?.then((role) => role.serve());
        break;
      case 'asked':
      case 'answers':
      case 'told':
        exchange.receive(message);
        break;
      case 'level':
        void running?.then((role) => role.setLevel(message.level));
        break;
      case 'reload-tls':
        void running?.then((role) => role.reloadTls());
        break;
      case 'stop':
        listen.reject(new Error('the server is stopping'));
        void end();
        break;
    }
  });
  process.on('disconnect', () => {
    exchange.abandon();
    const error = new Error('the primary process is gone');
    rootKey.reject(error);
    listen.reject(error);
    void end();
  });
}

interface WorkerParts extends Pick<RoleContext, 'rootKey' | 'listen' | 'reached' | 'exchange'> {
  readonly pipe: LogPipe;
}

async function start(
  loading: Promise<StartRole>,
  message: StartMessage,
  { pipe, ...parts }: WorkerParts,
): Promise<RunningRole> {
  const { config } = message;
  const logger = createLogger({ level: config.logging.level, format: config.logging.format, sink: pipe });
  const startRole = await loading;
  return startRole({
    ...parts,
    config,
    logger,
    workers: message.workers,
    prepares: message.prepares,
    worksAlone: message.worksAlone,
    allowMismatchedRepositories: message.allowMismatchedRepositories,
    trial: message.trial,
  });
}
