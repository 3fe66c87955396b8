import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { gcRulesOf, gcRulesView } from '../views/gc-rules.ts';

export function gcRulesHandlers({ engine: { gc } }: ApiOptions): HandlersOf<'gc-rules'> {
  return {
    async getGCRules({ params }) {
      return gcRulesView(await gc.getRules(params.repository));
    },

    async setGCRules({ params, body }) {
      await gc.setRules({ repository: params.repository, rules: gcRulesOf(body) });
    },

    async deleteGCRules({ params }) {
      await gc.deleteRules(params.repository);
    },

    setGarbageCollectionRulesPreflight() {
      return undefined;
    },

    async internalGetGarbageCollectionRules({ params }) {
      return gcRulesView(await gc.getRules(params.repository));
    },

    async internalSetGarbageCollectionRules({ params, body }) {
      await gc.setRules({ repository: params.repository, rules: gcRulesOf(body) });
    },

    async internalDeleteGarbageCollectionRules({ params }) {
      await gc.deleteRules(params.repository);
    },
  };
}
