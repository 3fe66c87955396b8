import {
  importStatusMessage,
  instanceHeartbeatMessage,
  taskStatusMessage,
  timestampToMillis,
  type Timestamp,
} from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { importsPrefix } from '../import/import-store.ts';
import { catalogPartition, repositoryPartition } from '../store/keys.ts';
import { tasksPrefix } from './task-runner.ts';

const expiryMs = 24 * 3_600_000;

/** Removes tasks, imports and heartbeats that nobody touched for a day, in every repository. */
export async function removeExpired(context: EngineContext): Promise<void> {
  for await (const { id, instanceUid } of context.repositories.list('', '')) {
    const partition = repositoryPartition(id, instanceUid);
    await sweep(
      context,
      partition,
      tasksPrefix,
      (value) => taskStatusMessage.decode(value).task?.updatedAt,
      (value) => {
        const { task } = taskStatusMessage.decode(value);
        if (task?.done === false) context.tasks?.expired(task.operation);
      },
    );
    await sweep(context, partition, importsPrefix, (value) => importStatusMessage.decode(value).updatedAt);
  }
  await sweep(
    context,
    catalogPartition,
    Buffer.from('instances/'),
    (value) => instanceHeartbeatMessage.decode(value).updatedAt,
  );
}

async function sweep(
  context: EngineContext,
  partition: Buffer,
  prefix: Buffer,
  touchedAt: (value: Buffer) => Timestamp | undefined,
  onExpiry: (value: Buffer) => void = () => undefined,
): Promise<void> {
  for await (const page of context.kv.scan(partition, { prefix })) {
    for (const { key, value } of page) {
      const touched = touchedAt(value);
      const age =
        touched === undefined ? Number.POSITIVE_INFINITY : context.clock() - timestampToMillis(touched);
      if (age <= expiryMs) continue;
      onExpiry(value);
      await context.kv.delete(partition, key);
    }
  }
}
