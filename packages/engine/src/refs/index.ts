import { moveIdText, timeOfMicros } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { diffRefs, diffUncommitted } from '../diff/diff-refs.ts';
import type { Refs } from '../face/refs.ts';
import { resolveRef } from './resolve-ref.ts';

const commitIdLength = 64;

export function refs(context: EngineContext): Refs {
  return {
    resolve: async ({ repository, ref }) => {
      const scope =
        context.repositories.openAtOnce(repository) ?? (await context.repositories.open(repository));
      // The usual case, without parsing: a branch as it was seen last. A full commit id is never taken for one.
      const seen = ref.length === commitIdLength ? undefined : context.branches.lastSeen(scope, ref);
      if (seen !== undefined && context.branches.isCurrentAtOnce(scope, seen) === true) {
        return { kind: 'branch', commitId: seen.data.commitId, staged: true, branch: seen.data.id };
      }
      const target = await resolveRef(context, scope, ref);
      const { kind, commitId, staged, stood } = target;
      const resolved = { kind, commitId, staged, branch: target.head?.data.id };
      if (stood === undefined) return resolved;
      // Ancestors of where the ref stood were put there by no move.
      const moveId = stood.commitId === commitId ? stood.moveId : undefined;
      return {
        ...resolved,
        moveId: moveId === undefined ? undefined : moveIdText(moveId),
        time: stood.micros === undefined ? undefined : timeOfMicros(stood.micros),
      };
    },
    diff: (options) => diffRefs(context, options),
    diffUncommitted: (options) => diffUncommitted(context, options),
  };
}
