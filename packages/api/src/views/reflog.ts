import type { DeletedRef, RefMoveInfo } from '@svc/engine';
import { dateTimeView } from './time.ts';

export function moveView(move: RefMoveInfo) {
  return {
    id: move.id,
    time: dateTimeView(move.time),
    kind: move.kind,
    ref_type: move.refType,
    ref_id: move.refId,
    old_commit_id: move.oldCommitId,
    new_commit_id: move.newCommitId,
    user: move.user,
    source: move.source,
    hidden: move.hidden ? true : undefined,
    request_id: move.requestId,
    restorable: move.restorable,
  };
}

export function deletedRefView(deleted: DeletedRef) {
  return {
    type: deleted.type,
    id: deleted.id,
    commit_id: deleted.commitId,
    deleted_at: dateTimeView(deleted.deletedAt),
    deleted_by: deleted.deletedBy,
    restorable_until: dateTimeView(deleted.restorableUntil),
    move_id: deleted.moveId,
    hidden: deleted.hidden,
  };
}
