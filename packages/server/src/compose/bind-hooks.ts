import type { Auth } from '@svc/auth';
import type { BlockStores } from '@svc/block';
import type { Engine } from '@svc/engine';
import { lazyAppendTable } from '../http/lazy-iceberg.ts';
import type { RoleContext } from '../roles/role.ts';
import type { ProcessHooks } from './hooks.ts';
import { installationFacts } from './installation-facts.ts';

interface BoundParts {
  readonly hooks: ProcessHooks;
  readonly engine: Engine;
  readonly auth: Auth;
  readonly blocks: BlockStores;
}

/** Gives the hooks of this process the engine they belong to and a way to call the API. */
export async function bindHooks({ config, logger }: RoleContext, parts: BoundParts): Promise<void> {
  const { hooks, engine, auth, blocks } = parts;
  const { createInternalApi } = await import('./internal-api.ts');
  const callApi = createInternalApi(async (hookAuth) => {
    const { createApi } = await import('@svc/api');
    const facts = installationFacts(config, blocks);
    return createApi({
      engine,
      auth: hookAuth,
      installation: () => facts,
      actions: hooks.actions,
      appendTable: lazyAppendTable(engine),
      observer: {
        finished: ({ operationId, status, username, params, requestId, durationMs }) =>
          logger.debug(
            {
              operation_id: operationId,
              status,
              user: username,
              ...params,
              request_id: requestId,
              took_ms: durationMs,
            },
            'a hook called the API',
          ),
        failed: (error, request) =>
          logger.error(
            { error, request_id: request.requestId, operation_id: request.operationId },
            'request failed',
          ),
      },
    });
  }, auth);
  hooks.bind({ engine, callApi });
}
