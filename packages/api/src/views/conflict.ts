import {
  userMetadata,
  type Conflict,
  type ConflictEntry,
  type ConflictPage,
  type ErrorFacts,
  type MergeBase,
  type MergePreview,
} from '@svc/engine';
import { defaultContentType } from './object.ts';
import { pageView, paginationView } from './page.ts';
import { tableAt } from './table-at.ts';

export function commitIdsView({ sourceCommitId, destinationCommitId, baseCommitId }: MergeBase) {
  return {
    source_commit_id: sourceCommitId,
    destination_commit_id: destinationCommitId,
    base_commit_id: baseCommitId,
  };
}

export function conflictView(conflict: Conflict) {
  const { path, kind, conflictId, base, source, destination, taken } = conflict;
  return {
    path,
    kind,
    conflict_id: conflictId,
    table: tableAt(path),
    base: entryView(base),
    source: entryView(source),
    destination: entryView(destination),
    taken,
  };
}

function entryView(entry: ConflictEntry | undefined) {
  if (entry === undefined) return undefined;
  return {
    checksum: entry.etag,
    size_bytes: entry.size,
    mtime: entry.mtime.seconds,
    content_type: entry.contentType === '' ? defaultContentType : entry.contentType,
    metadata: userMetadata(entry.metadata),
  };
}

export function conflictPageView(page: ConflictPage) {
  return { ...pageView(page, conflictView), ...commitIdsView(page) };
}

export function previewView(preview: MergePreview) {
  const { outcome, added, changed, removed, conflicts, unresolved, hasMore, nextOffset } = preview;
  return {
    ...commitIdsView(preview),
    outcome,
    added,
    changed,
    removed,
    conflicts,
    results: unresolved.map(conflictView),
    pagination: paginationView(hasMore, nextOffset, unresolved.length),
  };
}

/** What a refusal tells beside its message. */
export function factsView(facts: ErrorFacts | undefined): Readonly<Record<string, unknown>> | undefined {
  if (facts === undefined) return undefined;
  const { moved, conflicts } = facts;
  return {
    ...(moved !== undefined && { moved }),
    ...(conflicts !== undefined && {
      ...commitIdsView(conflicts),
      unresolved: conflicts.unresolved,
      results: conflicts.results.map(conflictView),
      has_more: conflicts.hasMore,
    }),
  };
}
