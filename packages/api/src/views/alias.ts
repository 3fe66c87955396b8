import type { Binding, BindingMove, BindingTarget, BoundPlace } from '@svc/engine';
import { dateTimeView } from './time.ts';

export function aliasView(binding: Binding) {
  return {
    name: binding.bucket,
    repository: binding.repository,
    ref: binding.ref,
    commit_id: binding.commitId,
    pinned: binding.pinned,
    prefix: binding.prefix,
    read_only: binding.readOnly,
    writable: binding.writable,
    dangling: binding.dangling,
    description: binding.description,
    created_at: dateTimeView(binding.createdAt),
    created_by: binding.createdBy,
    updated_at: dateTimeView(binding.updatedAt),
    updated_by: binding.updatedBy,
    generation: binding.generation,
  };
}

export function aliasMoveView(move: BindingMove) {
  return {
    id: move.id,
    time: dateTimeView(move.time),
    kind: move.kind,
    user: move.user,
    old: placeView(move.old),
    new: placeView(move.new),
  };
}

function placeView(place: BoundPlace | undefined) {
  if (place === undefined) return undefined;
  const { repository, ref, prefix } = place;
  return { repository, ref, prefix, commit_id: place.commitId };
}

/** What a body asks a bucket name to mean. */
export function targetOf(body: {
  readonly repository: string;
  readonly ref: string;
  readonly prefix?: string;
  readonly pin?: boolean;
  readonly read_only?: boolean;
  readonly description?: string;
}): BindingTarget {
  const { repository, ref, prefix, pin, description } = body;
  return { repository, ref, prefix, pin, description, readOnly: body.read_only };
}
