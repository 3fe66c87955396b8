import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { BlockError, type BlockAdapter, type ObjectPointer } from '@svc/block';
import type { EngineSettings } from '../face/options.ts';
import { invalid } from '../context/refusals.ts';
import type { LeftMark } from './left-mark.ts';

const legacyPrefix = '_lakefs';
// Not a range file on purpose: an old collector that looks here for committed objects must fail, not see nothing.
const guardText = Buffer.from(
  'this repository keeps its metadata elsewhere; do not collect garbage from here\n',
);

function pointerTo(storageNamespace: string, identifier: string): ObjectPointer {
  return { storageNamespace, identifier, identifierType: 'relative' };
}

/** What a creation put into the namespace, to be taken back when it fails. */
export interface NamespaceMarks {
  remove(): Promise<void>;
}

/** Refuses a namespace in use, then marks it as ours. */
export async function markNamespace(
  adapter: BlockAdapter,
  storageNamespace: string,
  settings: EngineSettings,
  left: LeftMark,
): Promise<NamespaceMarks> {
  const prefix = settings.metadataPrefix;
  const dummy = pointerTo(storageNamespace, `${prefix}/dummy`);
  const guard = pointerTo(storageNamespace, `${legacyPrefix}/guard`);
  const written: ObjectPointer[] = [];
  // Nobody else writes the same, so that a mark whose answer was lost is known as ours.
  const text = Buffer.from(`this file marks the storage namespace of a repository\n${randomUUID()}\n`);
  const remove = async (): Promise<void> => {
    if (!(await removeAll(adapter, written))) await left.keep(text);
  };
  try {
    await removeLeft(adapter, dummy, left);
    const probes = [dummy, pointerTo(storageNamespace, `${legacyPrefix}/dummy`)];
    if (settings.ensureReadableRootNamespace) probes.push(pointerTo(storageNamespace, 'dummy'));
    for (const probe of probes) if (await adapter.exists(probe)) throw namespaceInUse();
    await adapter.put(dummy, text, { ifAbsent: true }).catch(async (error: unknown) => {
      const isOurs = await holds(adapter, dummy, text).catch(() => undefined);
      // It may be there although the store does not say so.
      if (isOurs === undefined) await left.keep(text);
      if (isOurs !== true) throw error;
    });
    written.push(dummy);
    const readBack = await adapter.get(dummy);
    readBack.dispose();
    if (prefix !== legacyPrefix) {
      await adapter.put(guard, guardText);
      written.push(guard);
    }
  } catch (error) {
    await remove();
    throw namespaceFailure(error);
  }
  return { remove };
}

/** The prefix of a namespace that is adopted as it is: `_lakefs` when only that one has been used there. */
export async function detectMetadataPrefix(
  adapter: BlockAdapter,
  storageNamespace: string,
  configured: string,
): Promise<string> {
  if (configured === legacyPrefix) return configured;
  try {
    if (await adapter.exists(pointerTo(storageNamespace, `${configured}/dummy`))) return configured;
    for (const name of ['dummy', 'refs_manifest.json']) {
      if (await adapter.exists(pointerTo(storageNamespace, `${legacyPrefix}/${name}`))) return legacyPrefix;
    }
  } catch (error) {
    throw namespaceFailure(error);
  }
  return configured;
}

/** Whether an object has this content. */
async function holds(adapter: BlockAdapter, pointer: ObjectPointer, text: Buffer): Promise<boolean> {
  const body = await adapter.get(pointer);
  const content = body.bytes ?? (await buffer(body.stream()));
  return content.equals(text);
}

/** False when something had to stay: the error that led here is the one to tell. */
async function removeAll(adapter: BlockAdapter, pointers: readonly ObjectPointer[]): Promise<boolean> {
  let gone = true;
  for (const pointer of pointers) {
    await adapter.delete(pointer).catch(() => {
      gone = false;
    });
  }
  return gone;
}

/** Takes away the mark of an earlier creation that failed. One that has another text is somebody's. */
async function removeLeft(adapter: BlockAdapter, mark: ObjectPointer, left: LeftMark): Promise<void> {
  const text = await left.read();
  if (text === undefined) return;
  if ((await adapter.exists(mark)) && (await holds(adapter, mark, text))) await adapter.delete(mark);
  await left.forget();
}

function namespaceInUse(): Error {
  return invalid('failed to create repository: storage namespace already in use', 'namespace');
}

function namespaceFailure(error: unknown): unknown {
  if (!(error instanceof BlockError)) return error;
  if (error.kind === 'already_exists') return namespaceInUse();
  if (error.kind === 'invalid_namespace' || error.kind === 'invalid_address') {
    return invalid(`failed to create repository: ${error.message}`, 'namespace');
  }
  const message = `failed to create repository: failed to access storage: ${error.message}`;
  // Not for the caller to mend: the same request may pass later.
  if (error.retryable) return new BlockError(error.kind, message, { cause: error });
  return invalid(message, 'namespace');
}
