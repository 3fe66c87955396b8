import {
  importStatusMessage,
  instanceHeartbeatMessage,
  taskStatusMessage,
  timestampToMillis,
  type Timestamp,
} from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { wholeRound, type JobRound } from '../face/jobs.ts';
import { importsPrefix } from '../import/import-store.ts';
import { catalogPartition, repositoryPartition } from '../store/keys.ts';
import { findHeartbeat, tasksPrefix } from './task-runner.ts';

const expiryMs = 24 * 3_600_000;

/** When a record was last touched by whoever works on it. */
type LastSign = (value: Buffer) => Promise<Timestamp | undefined> | Timestamp | undefined;

/** Removes tasks, imports and heartbeats that nobody touched for a day, in every repository. */
export async function removeExpired(context: EngineContext, round: JobRound = wholeRound): Promise<void> {
  for await (const { id, instanceUid } of context.repositories.list('', '')) {
    if (!(await round.mayGoOn())) return;
    const partition = repositoryPartition(id, instanceUid);
    await sweep(
      context,
      partition,
      tasksPrefix,
      (value) => lastSignOfTask(context, value),
      (value) => {
        const { task } = taskStatusMessage.decode(value);
        if (task?.done === false) context.taskObserver?.expired(task.operation);
      },
    );
    await sweep(context, partition, importsPrefix, (value) => importStatusMessage.decode(value).updatedAt);
  }
  if (!(await round.mayGoOn())) return;
  await sweep(
    context,
    catalogPartition,
    Buffer.from('instances/'),
    (value) => instanceHeartbeatMessage.decode(value).updatedAt,
  );
}

/** A task that runs is not written again before its end: its owner's heartbeat speaks for it. */
async function lastSignOfTask(context: EngineContext, value: Buffer): Promise<Timestamp | undefined> {
  const { task } = taskStatusMessage.decode(value);
  if (task === undefined || task.done) return task?.updatedAt;
  const beat = await findHeartbeat(context, task.ownerInstanceId);
  const isNewer = beat !== undefined && timestampToMillis(beat) > timestampToMillis(task.updatedAt);
  return isNewer ? beat : task.updatedAt;
}

/** A record that cannot be read or removed waits for the next round; the others do not wait for it. */
async function sweep(
  context: EngineContext,
  partition: Buffer,
  prefix: Buffer,
  lastSign: LastSign,
  onExpiry: (value: Buffer) => void = () => undefined,
): Promise<void> {
  for await (const page of context.kv.scan(partition, { prefix })) {
    for (const { key, value } of page) {
      try {
        if (!isOld(context, await lastSign(value))) continue;
        // Only if unchanged: it may have finished meanwhile, and its reader wants to see the result.
        const found = await context.kv.get(partition, key);
        if (found?.value.equals(value) !== true) continue;
        if (await context.kv.deleteIf(partition, key, found.predicate)) onExpiry(value);
      } catch (error) {
        context.logger.warn({ err: error, key: key.toString() }, 'an expired record could not be removed');
      }
    }
  }
}

function isOld(context: EngineContext, touched: Timestamp | undefined): boolean {
  return touched === undefined || context.clock() - timestampToMillis(touched) > expiryMs;
}
