import { timestampFromMillis, type BindingData } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { Binding, BindingTarget } from '../face/bindings.ts';
import type { Actor } from '../face/model.ts';
import { isBranchName } from '../names/names.ts';
import { checkTexts } from '../names/text-limits.ts';
import { parseRef } from '../refs/parse-ref.ts';
import { resolveCommitId, resolveRef } from '../refs/resolve-ref.ts';

const maxPrefixBytes = 512;
const maxDescription = 256;

/** A checked target as the record of a binding. */
export async function bindingOf(
  context: EngineContext,
  bucket: string,
  target: BindingTarget,
  actor: Actor,
  before?: BindingData,
): Promise<BindingData> {
  const { prefix = '', description = '', pin = false, readOnly = false } = target;
  if (prefix.startsWith('/') || Buffer.byteLength(prefix) > maxPrefixBytes) {
    throw invalid(`prefix: expected at most ${maxPrefixBytes} bytes that do not begin with /`);
  }
  checkTexts('prefix', 'object', [prefix]);
  if (description.length > maxDescription) {
    throw invalid(`description: expected at most ${maxDescription} characters`);
  }
  parseRef(target.ref);
  const scope = await context.repositories.open(target.repository);
  const shown = pin
    ? await resolveCommitId(context, scope, target.ref)
    : (await resolveRef(context, scope, target.ref)).commitId;
  const now = timestampFromMillis(context.clock());
  const user = actor.userId ?? actor.committer;
  return {
    bucket,
    repository: scope.repository.id,
    instanceUid: scope.repository.instanceUid,
    ref: target.ref,
    commitId: pin ? shown : '',
    prefix,
    readOnly,
    description,
    createdAt: before?.createdAt ?? now,
    createdBy: before?.createdBy ?? user,
    updatedAt: now,
    updatedBy: user,
    generation: (before?.generation ?? 0) + 1,
    lastMove: Buffer.alloc(0),
  };
}

/** The ref that requests through the binding read. */
export function shownRef({ ref, commitId }: BindingData): string {
  return commitId === '' ? ref : commitId;
}

export async function toBinding(context: EngineContext, data: BindingData): Promise<Binding> {
  const shown = await findShown(context, data);
  return {
    bucket: data.bucket,
    repository: data.repository,
    ref: data.ref,
    commitId: shown?.commitId,
    pinned: data.commitId !== '',
    prefix: data.prefix,
    readOnly: data.readOnly,
    writable: shown?.isBranch === true && !data.readOnly,
    dangling: shown === undefined,
    description: data.description,
    createdAt: data.createdAt,
    createdBy: data.createdBy,
    updatedAt: data.updatedAt,
    updatedBy: data.updatedBy,
    generation: data.generation,
  };
}

async function findShown(
  context: EngineContext,
  data: BindingData,
): Promise<{ readonly commitId: string; readonly isBranch: boolean } | undefined> {
  const ref = shownRef(data);
  try {
    const scope = await context.repositories.open(data.repository);
    if (scope.repository.instanceUid !== data.instanceUid) return undefined;
    const { kind, commitId } = await resolveRef(context, scope, ref);
    return { commitId, isBranch: kind === 'branch' && isBranchName(ref) };
  } catch (error) {
    if (error instanceof EngineError && error.kind !== 'corrupt') return undefined;
    throw error;
  }
}
