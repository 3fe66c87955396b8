import { reflogSettingsMessage } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid } from '../context/refusals.ts';
import type { Reflog } from '../face/reflog.ts';
import { checkNotReadOnly } from '../protection/writable.ts';
import { reflogSettingsKey } from '../store/keys.ts';
import { getMove, listMoves } from './list-moves.ts';
import { findRetentionDays } from './retention.ts';
import { rollback } from './rollback.ts';
import { expireMoves } from './trim-moves.ts';
import { listDeleted, undelete } from './undelete.ts';

const maxDays = 3650;

export function reflog(context: EngineContext): Reflog {
  return {
    list: (options) => listMoves(context, options),
    get: (options) => getMove(context, options),
    expire: (options) => expireMoves(context, options),
    listDeleted: (options) => listDeleted(context, options),
    undelete: (options) => undelete(context, options),
    rollback: (options) => rollback(context, options),
    getRetentionDays: async (repository) =>
      findRetentionDays(context, await context.repositories.open(repository)),
    setRetentionDays: async ({ repository, days }) => {
      if (days !== undefined && (!Number.isInteger(days) || days < 0 || days > maxDays)) {
        throw invalid(`retention_days: expected a whole number from 0 to ${maxDays}, or null`);
      }
      const scope = await context.repositories.open(repository);
      checkNotReadOnly(scope, false);
      await context.kv.set(
        scope.partition,
        reflogSettingsKey,
        reflogSettingsMessage.encode({ retentionDays: days }),
      );
    },
  };
}
