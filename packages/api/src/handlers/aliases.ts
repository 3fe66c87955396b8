import { arn } from '@svc/auth';
import type { Binding } from '@svc/engine';
import { Answer } from '../answer/answer.ts';
import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { RequestError } from '../request/request-error.ts';
import { aliasMoveView, aliasView, targetOf } from '../views/alias.ts';
import { pageView } from '../views/page.ts';
import { authActor } from './shared/auth-actor.ts';
import { pageRequest } from './shared/page-request.ts';

export function aliasHandlers({ engine: { bindings }, auth }: ApiOptions): HandlersOf<'aliases'> {
  return {
    async listAliases({ query, identity, client }) {
      const permissions = await auth.permissionsOf(identity, client);
      const page = await bindings.listAliases({
        ...pageRequest(query),
        repository: query.repository,
        visible: (name, repository) =>
          !permissions.isDenied('fs:ListAliases', arn.alias(name)) &&
          !permissions.isDenied('fs:ListRepositories', arn.repository(repository)),
      });
      return pageView(page, aliasView);
    },

    async createAlias({ body, actor }) {
      return answer(201, await bindings.createAlias({ name: body.name, target: targetOf(body), actor }));
    },

    async getAlias({ params }) {
      return answer(200, await bindings.getAlias(params.alias));
    },

    async setAlias({ params, headers, body, actor }) {
      const { after } = await bindings.setAlias({
        name: params.alias,
        target: targetOf(body),
        ifGeneration: generationOf(headers['if-match']),
        actor,
      });
      return answer(200, after);
    },

    async deleteAlias({ params, actor }) {
      await bindings.deleteAlias({ name: params.alias, actor });
    },

    async rollbackAlias({ params, body, actor }) {
      return answer(200, await bindings.rollbackAlias({ name: params.alias, moveId: body?.move_id, actor }));
    },

    async aliasLog({ params, query }) {
      const { after, amount } = query;
      return pageView(await bindings.aliasLog({ name: params.alias, after, amount }), aliasMoveView);
    },

    async setCredentialsView(call) {
      const { userId, accessKeyId } = call.params;
      await auth.credentials.get(userId, accessKeyId);
      const { bucket } = call.body;
      const view = await bindings.setView({
        accessKeyId,
        bucket,
        target: targetOf(call.body),
        actor: call.actor,
      });
      await auth.credentials.setHasView(userId, accessKeyId, true, authActor(call));
      return aliasView(view);
    },

    async deleteCredentialsView(call) {
      const { userId, accessKeyId } = call.params;
      await auth.credentials.setHasView(userId, accessKeyId, false, authActor(call));
      await bindings.deleteView({ accessKeyId, actor: call.actor });
    },
  };
}

function answer(status: number, binding: Binding): Answer {
  return Answer.json(status, aliasView(binding), { etag: `"${binding.generation}"` });
}

function generationOf(ifMatch: string | undefined): number | undefined {
  if (ifMatch === undefined || ifMatch === '*') return undefined;
  const generation = /^"?(\d{1,15})"?$/.exec(ifMatch)?.[1];
  if (generation === undefined) throw new RequestError(400, 'If-Match: expected the generation of the alias');
  return Number(generation);
}
