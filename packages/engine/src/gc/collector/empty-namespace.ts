import { BlockError, type ObjectPointer } from '@svc/block';
import { adapterOf, type EngineContext } from '../../context/engine-context.ts';
import { EngineError } from '../../errors.ts';
import { trimSlash } from '../../repositories/namespaces.ts';
import type { RepositoryScope } from '../../store/scope.ts';
import { isTableKey, parseDataKey } from './data-key.ts';
import { Held, readHeld, surveyOthers } from './held.ts';
import { CollectorLease } from './lease.ts';
import { claimNamespace } from './owner.ts';
import { GcPlaces } from './places.ts';
import { Tally } from './tally.ts';

const batchSize = 1000;
/** Names of files that are not ours, for the log. */
const namedFiles = 20;
const uploadLeftover = /\.multipart$|\.part_\d{5}$|_id$|_size$/;

/** What became of a namespace. */
export interface Emptied {
  readonly deleted: Tally;
  /** Other repositories use it. */
  readonly held: Tally;
  readonly unknown: Tally;
  readonly unknownNames: readonly string[];
}

/**
 * Deletes what the repository, deleted by now, has written into its namespace. Whatever has a name that we do not give
 * stays. Undefined when somebody else is at it; may be repeated after a crash.
 */
export async function emptyNamespace(
  context: EngineContext,
  scope: RepositoryScope,
  mayGoOn: () => Promise<boolean>,
): Promise<Emptied | undefined> {
  const { kv, steadyTime: time, leaseWatch: watch, clock } = context;
  const runId = context.xids.next();
  const lease = await CollectorLease.take({ kv, time, watch, clock }, scope.partition, runId, runId);
  if (lease === undefined) return undefined;
  try {
    const work = new Emptying(context, scope, lease, mayGoOn);
    await work.run(runId);
    return work;
  } finally {
    await lease.release();
  }
}

class Emptying implements Emptied {
  readonly deleted = new Tally();
  readonly held = new Tally();
  readonly unknown = new Tally();
  readonly unknownNames: string[] = [];
  readonly #context: EngineContext;
  readonly #scope: RepositoryScope;
  readonly #lease: CollectorLease;
  readonly #mayGoOn: () => Promise<boolean>;
  readonly #places: GcPlaces;
  readonly #uses = new Held();

  constructor(
    context: EngineContext,
    scope: RepositoryScope,
    lease: CollectorLease,
    mayGoOn: () => Promise<boolean>,
  ) {
    this.#context = context;
    this.#scope = scope;
    this.#lease = lease;
    this.#mayGoOn = mayGoOn;
    this.#places = new GcPlaces(scope);
  }

  async run(runId: string): Promise<void> {
    const { generation } = this.#lease;
    await claimNamespace(this.#context, this.#scope, this.#places, { generation, runId, takeOver: false });
    await surveyOthers(this.#context, this.#scope, this.#uses, () => this.#checkGoesOn());
    await this.#lease.beginSweep();
    await this.#endUploads();
    const last = new Set(this.#lastKeys());
    let batch: { readonly key: string; readonly size: number }[] = [];
    const namespace = `${trimSlash(this.#scope.repository.storageNamespace)}/`;
    const adapter = adapterOf(this.#context, this.#scope);
    for await (const page of adapter.walk(namespace, { skipEtag: true })) {
      for (const { relativeKey: key, size } of page) {
        if (last.has(key)) continue;
        if (this.#isOurs(key)) batch.push({ key, size });
        else this.#leave(key, size);
        if (batch.length < batchSize) continue;
        await this.#delete(batch);
        batch = [];
      }
    }
    await this.#delete(batch);
    // They say whose namespace it is, so they go when nothing else is left to be deleted.
    await this.#delete(this.#lastKeys().map((key) => ({ key, size: 0 })));
  }

  #lastKeys(): string[] {
    const { metadataPrefix } = this.#scope.committed;
    return ['_lakefs/guard', this.#places.contested, this.#places.owner, `${metadataPrefix}/dummy`];
  }

  #isOurs(key: string): boolean {
    if (parseDataKey(key.replace(uploadLeftover, '')) !== undefined) return true;
    const { metadataPrefix } = this.#scope.committed;
    if (key.startsWith(`symlinks/${this.#scope.repository.id}/`)) return key.endsWith('/symlink.txt');
    if (!key.startsWith(`${metadataPrefix}/`)) return false;
    const name = key.slice(metadataPrefix.length + 1);
    return (
      isTableKey(name) ||
      name === 'refs_manifest.json' ||
      /^(retention\/gc|actions\/log|exported)\//.test(name)
    );
  }

  #leave(key: string, size: number): void {
    this.unknown.add(size);
    if (this.unknownNames.length < namedFiles) this.unknownNames.push(key);
  }

  async #delete(batch: readonly { readonly key: string; readonly size: number }[]): Promise<void> {
    if (batch.length === 0) return;
    await this.#checkGoesOn();
    const lease = this.#lease;
    await lease.beginBatch();
    // After the batch was announced: whoever brings an address from here waits for its end and looks again.
    await readHeld(this.#context, this.#scope, this.#uses);
    const left = batch.filter(({ key, size }) => {
      const isUsed = this.#uses.has(key);
      if (isUsed) this.held.add(size);
      return !isUsed;
    });
    if (!(await lease.mayDelete())) throw tooSlow();
    const pointers: ObjectPointer[] = left.map(({ key }) => this.#places.pointer(key));
    try {
      const [failure] = await adapterOf(this.#context, this.#scope).deleteMany(pointers, {
        mayGoOn: () => lease.isInTime(),
      });
      if (failure !== undefined) throw failure.error;
    } catch (error) {
      if (error instanceof BlockError && error.kind === 'unavailable') await lease.settle();
      throw error;
    }
    await lease.endBatch();
    for (const { size } of left) this.deleted.add(size);
  }

  async #endUploads(): Promise<void> {
    const adapter = adapterOf(this.#context, this.#scope);
    const now = new Date(this.#context.clock() + 60_000);
    for await (const upload of adapter.staleUploads(this.#scope.repository.storageNamespace, now)) {
      if (parseDataKey(upload.pointer.identifier) !== undefined) await adapter.abortMultipart(upload);
    }
  }

  async #checkGoesOn(): Promise<void> {
    this.#lease.check();
    if (!(await this.#mayGoOn())) throw new EngineError('busy', 'the server is stopping');
  }
}

function tooSlow(): EngineError {
  return new EngineError('busy', 'the namespace was not emptied in time: the next round goes on');
}
