import { buffer } from 'node:stream/consumers';
import { BlockError } from '@svc/block';
import { adapterOf, type EngineContext } from '../../context/engine-context.ts';
import { EngineError } from '../../errors.ts';
import type { RepositoryScope } from '../../store/scope.ts';
import type { GcPlaces } from './places.ts';

const mostClockErrorMs = 5 * 60_000;

/** Who collects a namespace, as it says itself. */
interface Owner {
  readonly installation_id: string;
  readonly repository: string;
  readonly instance_uid: string;
  readonly generation: number;
  readonly run_id: string;
  readonly time: string;
}

export interface OwnerOptions {
  readonly generation: number;
  readonly runId: string;
  readonly takeOver: boolean;
}

/**
 * Makes sure that nobody else collects the namespace with other refs in mind: another installation, or a key-value store
 * that is older than the last run because it was restored from a backup. Also compares the clocks.
 */
export async function claimNamespace(
  context: EngineContext,
  scope: RepositoryScope,
  places: GcPlaces,
  options: OwnerOptions,
): Promise<void> {
  const adapter = adapterOf(context, scope);
  const found = await readJson(context, scope, places.owner);
  const { id, instanceUid } = scope.repository;
  const isOther =
    found !== undefined && (found.instance_uid !== instanceUid || found.generation >= options.generation);
  if (isOther && !options.takeOver) {
    await adapter.put(places.pointer(places.contested), Buffer.from(JSON.stringify(found)));
    throw contested(found);
  }
  if (options.takeOver) await adapter.delete(places.pointer(places.contested));
  const owner: Owner = {
    installation_id: (await context.settings.installationId()) ?? '',
    repository: id,
    instance_uid: instanceUid,
    generation: options.generation,
    run_id: options.runId,
    time: new Date(context.clock()).toISOString(),
  };
  await adapter.put(places.pointer(places.owner), Buffer.from(JSON.stringify(owner)));
  const { lastModified } = await adapter.properties(places.pointer(places.owner), { skipEtag: true });
  const apart = Math.abs(lastModified.getTime() - context.clock());
  if (apart > mostClockErrorMs) {
    throw refusal(`clock differs from the store's by ${Math.round(apart / 1000)} s: set both right`);
  }
}

/** While somebody doubts who owns the namespace nothing is deleted. */
export async function checkUncontested(
  context: EngineContext,
  scope: RepositoryScope,
  places: GcPlaces,
  runId: string,
): Promise<void> {
  const doubt = await readJson(context, scope, places.contested);
  if (doubt !== undefined) throw contested(doubt);
  const owner = await readJson(context, scope, places.owner);
  if (owner?.run_id !== runId) throw contested(owner);
}

async function readJson(
  context: EngineContext,
  scope: RepositoryScope,
  identifier: string,
): Promise<Owner | undefined> {
  const { storageNamespace } = scope.repository;
  try {
    const body = await adapterOf(context, scope).get({
      storageNamespace,
      identifier,
      identifierType: 'relative',
    });
    return JSON.parse((body.bytes ?? (await buffer(body.stream()))).toString()) as Owner;
  } catch (error) {
    if (error instanceof BlockError && error.kind === 'not_found') return undefined;
    throw error;
  }
}

function contested(other: Owner | undefined): NamespaceContested {
  return new NamespaceContested(
    `namespace was collected by another installation or a newer key-value store (run ${other?.run_id ?? 'unknown'}, ${other?.time ?? 'unknown time'}): make sure nothing else uses it, then run again with take_over`,
  );
}

/** Somebody else collects the namespace. */
export class NamespaceContested extends EngineError {
  constructor(message: string) {
    super('conflict', message, { subject: 'repository' });
  }
}

function refusal(message: string): EngineError {
  return new EngineError('conflict', message, { subject: 'repository' });
}
