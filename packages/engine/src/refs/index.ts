import type { EngineContext } from '../context/engine-context.ts';
import { diffRefs, diffUncommitted } from '../diff/diff-refs.ts';
import type { Refs } from '../face/refs.ts';
import { resolveRef } from './resolve-ref.ts';

export function refs(context: EngineContext): Refs {
  return {
    resolve: async ({ repository, ref }) => {
      const scope = await context.repositories.open(repository);
      const target = await resolveRef(context, scope, ref);
      const { kind, commitId, staged } = target;
      return { kind, commitId, staged, branch: target.head?.data.id };
    },
    diff: (options) => diffRefs(context, options),
    diffUncommitted: (options) => diffUncommitted(context, options),
  };
}
