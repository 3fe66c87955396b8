import { EngineError } from '@svc/engine';
import { Answer } from '../answer/answer.ts';
import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';

export function branchProtectionHandlers({
  engine: { protection },
}: ApiOptions): HandlersOf<'branch-protection'> {
  async function listed(repository: string): Promise<Answer> {
    const { patterns, etag } = await protection.get(repository);
    return Answer.json(
      200,
      patterns.map((pattern) => ({ pattern })),
      { etag },
    );
  }

  return {
    getBranchProtectionRules: ({ params }) => listed(params.repository),

    async setBranchProtectionRules({ params, headers, body, actor }) {
      const ifMatch = headers['if-match'];
      await protection.set({
        repository: params.repository,
        patterns: body.map(({ pattern }) => pattern),
        ifMatch: ifMatch?.replace(/^"(.*)"$/, '$1'),
        actor,
      });
    },

    createBranchProtectionRulePreflight() {
      return undefined;
    },

    internalGetBranchProtectionRules: ({ params }) => listed(params.repository),

    async internalCreateBranchProtectionRule({ params, body, actor }) {
      await protection.add({ repository: params.repository, pattern: body.pattern, actor });
    },

    async internalDeleteBranchProtectionRule({ params, body, actor }) {
      try {
        await protection.remove({ repository: params.repository, pattern: body.pattern, actor });
        return undefined;
      } catch (error) {
        if (error instanceof EngineError && error.kind === 'not_found' && error.subject === 'rules') {
          return new Answer(404);
        }
        throw error;
      }
    },
  };
}
