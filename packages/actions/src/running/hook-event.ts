import type { HookEvent } from '@svc/engine';
import { timestampToDate } from '@svc/encoding';

/** What a hook is run for. */
export interface HookContext {
  readonly event: HookEvent;
  readonly runId: string;
  readonly actionName: string;
  readonly hookId: string;
}

/** A value as JSON that is safe inside HTML, with the keys in the given order. */
export function jsonText(value: unknown, indent?: string): string {
  return JSON.stringify(value, null, indent).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The event as receivers of webhooks and DAGs get it; what does not apply is left out. */
export function payloadOf(context: HookContext, now: Date): Record<string, unknown> {
  const { event } = context;
  const { commit } = event;
  const optional = {
    branch_id: event.branch,
    source_ref: event.sourceRef,
    tag_id: event.tag,
    commit_id: event.commitId,
    commit_message: commit?.message,
    committer: commit?.committer,
    commit_metadata: commit?.metadata,
    merge_source: event.mergeSource,
  };
  return {
    event_type: event.type,
    event_time: `${now.toISOString().slice(0, 19)}Z`,
    action_name: context.actionName,
    hook_id: context.hookId,
    repository_id: event.repository.id,
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => !isEmpty(value))),
  };
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined ||
    value === '' ||
    (typeof value === 'object' && Object.keys(value ?? {}).length === 0)
  );
}

/** The commit of an event as Lua scripts see it. */
export function commitTable(event: HookEvent): Record<string, unknown> {
  const { commit } = event;
  const created = commit?.creationDate;
  return {
    message: commit?.message ?? '',
    committer: commit?.committer ?? '',
    meta_range_id: commit?.metaRangeId ?? '',
    creation_date:
      created === undefined
        ? '0001-01-01T00:00:00Z'
        : `${timestampToDate(created).toISOString().slice(0, 19)}Z`,
    version: commit?.version ?? 0,
    metadata: { ...commit?.metadata },
    parents: [...(commit?.parents ?? [])],
  };
}
