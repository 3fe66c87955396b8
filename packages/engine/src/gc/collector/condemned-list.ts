import { gcQuarantineMessage, timestampFromMillis, type GcQuarantine } from '@svc/encoding';
import { adapterOf, type EngineContext } from '../../context/engine-context.ts';
import { EngineError } from '../../errors.ts';
import { trimSlash } from '../../repositories/namespaces.ts';
import type { RepositoryScope } from '../../store/scope.ts';
import { quarantineKey } from '../gc-keys.ts';
import { readGarbageFile, readStoredGarbage, type Garbage, type GarbageWriter } from './garbage-file.ts';
import type { CollectorLease } from './lease.ts';
import { GcPlaces } from './places.ts';

/** What waits to be deleted: a file of the run that wrote it last, which a record names. */
export class CondemnedList {
  readonly #context: EngineContext;
  readonly #scope: RepositoryScope;
  readonly #run: { readonly runId: string; readonly lease: CollectorLease };
  readonly #places: GcPlaces;

  constructor(
    context: EngineContext,
    scope: RepositoryScope,
    run: { readonly runId: string; readonly lease: CollectorLease },
  ) {
    this.#context = context;
    this.#scope = scope;
    this.#run = run;
    this.#places = new GcPlaces(scope);
  }

  async read(): Promise<GcQuarantine | undefined> {
    const found = await this.#context.kv.get(this.#scope.partition, quarantineKey);
    return found === undefined ? undefined : gcQuarantineMessage.decode(found.value);
  }

  entries(record: GcQuarantine | undefined): AsyncIterable<Garbage> {
    const adapter = adapterOf(this.#context, this.#scope);
    return readStoredGarbage(adapter, this.#places.pointer(this.#places.quarantine(record?.runId ?? '')));
  }

  /** From here on this list is the valid one. */
  async replace(list: GarbageWriter): Promise<void> {
    const { runId, lease } = this.#run;
    const { kv } = this.#context;
    const adapter = adapterOf(this.#context, this.#scope);
    await list.store(adapter, this.#places.pointer(this.#places.quarantine(runId)));
    lease.check();
    const found = await kv.get(this.#scope.partition, quarantineKey);
    const now = found === undefined ? undefined : gcQuarantineMessage.decode(found.value);
    const value = gcQuarantineMessage.encode({
      runId,
      objects: list.objects,
      bytes: list.bytes,
      oldest: timestampFromMillis(list.oldest ?? 0),
      notBefore: now?.notBefore ?? timestampFromMillis(0),
      generation: lease.generation,
    });
    await lease.beat();
    if (!(await kv.setIf(this.#scope.partition, quarantineKey, value, found?.predicate ?? 'absent'))) {
      throw new EngineError('busy', 'the list of condemned objects was changed meanwhile: run again');
    }
    await this.#removeOthers();
  }

  /** Of earlier runs, also of those that died before their list became valid. */
  async #removeOthers(): Promise<void> {
    const { storageNamespace } = this.#scope.repository;
    const adapter = adapterOf(this.#context, this.#scope);
    const valid = this.#places.quarantine(this.#run.runId);
    const folder = `${this.#places.base}/svc/quarantine/`;
    for await (const page of adapter.walk(`${trimSlash(storageNamespace)}/${folder}`, { skipEtag: true })) {
      for (const { relativeKey } of page) {
        const key = `${folder}${relativeKey}`;
        if (key !== valid) await adapter.delete(this.#places.pointer(key));
      }
    }
  }
}

/** What is deleted waits no more. Both lists have the same order; what is left goes into the third. */
export async function withoutDeleted(
  list: GarbageWriter,
  deleted: GarbageWriter,
  left: GarbageWriter,
): Promise<GarbageWriter> {
  const gone = readGarbageFile(deleted.path);
  let next = await gone.next();
  for await (const garbage of readGarbageFile(list.path)) {
    if (next.done !== true && next.value.address === garbage.address) next = await gone.next();
    else await left.add(garbage);
  }
  await left.finish();
  return left;
}
