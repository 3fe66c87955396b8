import { arn, one } from '@svc/auth';
import type { Binding } from '@svc/engine';
import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { authPageView } from '../views/auth-page.ts';
import {
  credentialsView,
  credentialsWithSecretView,
  externalPrincipalView,
  groupView,
  policyView,
  userView,
} from '../views/identity.ts';
import { targetOf } from '../views/alias.ts';
import { notImplemented } from './shared/not-implemented.ts';
import { authActor } from './shared/auth-actor.ts';
import { pageRequest } from './shared/page-request.ts';

export function authUserHandlers({ auth, engine: { bindings } }: ApiOptions): HandlersOf<'auth-users'> {
  const { users, credentials, externalPrincipals } = auth;
  return {
    async listUsers({ query }) {
      return authPageView(await users.list(pageRequest(query)), userView);
    },

    async createUser(call) {
      if (call.body.invite_user === true) {
        const { inviteUser } = auth;
        if (inviteUser === undefined) return notImplemented();
        return userView(await inviteUser(call.body.id, authActor(call)));
      }
      return userView(await users.create({ username: call.body.id }, authActor(call)));
    },

    async getUser({ params }) {
      return userView(await users.get(params.userId));
    },

    async deleteUser(call) {
      await users.delete(call.params.userId, authActor(call));
    },

    async listUserCredentials({ params, query }) {
      const page = await credentials.list(params.userId, pageRequest(query));
      const views = new Map<string, Binding | undefined>();
      for (const { accessKeyId, hasView } of page.results) {
        if (hasView) views.set(accessKeyId, await bindings.getView(accessKeyId));
      }
      return authPageView(page, (each) => credentialsView(each, views.get(each.accessKeyId)));
    },

    async createCredentials(call) {
      const { userId } = call.params;
      const asked = call.body?.view;
      if (asked === undefined) {
        return credentialsWithSecretView(await credentials.create(userId, authActor(call)));
      }
      await call.ensure(one('fs:ReadRepository', arn.repository(asked.repository)));
      let view: Binding | undefined;
      const made = await credentials.create(userId, authActor(call), undefined, async (accessKeyId) => {
        const { bucket } = asked;
        view = await bindings.setView({ accessKeyId, bucket, target: targetOf(asked), actor: call.actor });
      });
      return credentialsWithSecretView(made, view);
    },

    async getCredentials({ params }) {
      const found = await credentials.get(params.userId, params.accessKeyId);
      return credentialsView(found, found.hasView ? await bindings.getView(found.accessKeyId) : undefined);
    },

    async deleteCredentials(call) {
      const { userId, accessKeyId } = call.params;
      await credentials.delete(userId, accessKeyId, authActor(call));
      await bindings.deleteView({ accessKeyId, actor: call.actor });
    },

    async listUserGroups({ params, query }) {
      return authPageView(await users.groups(params.userId, pageRequest(query)), groupView);
    },

    async listUserPolicies({ params, query }) {
      const page = await users.policies(params.userId, {
        ...pageRequest(query),
        effective: query.effective === true,
      });
      return authPageView(page, policyView);
    },

    async attachPolicyToUser(call) {
      await users.attachPolicy(call.params.userId, call.params.policyId, authActor(call));
    },

    async detachPolicyFromUser(call) {
      await users.detachPolicy(call.params.userId, call.params.policyId, authActor(call));
    },

    async createUserExternalPrincipal(call) {
      await externalPrincipals.attach(call.params.userId, call.query.principalId, authActor(call));
    },

    async deleteUserExternalPrincipal(call) {
      await externalPrincipals.detach(call.params.userId, call.query.principalId, authActor(call));
    },

    async listUserExternalPrincipals({ params, query }) {
      const page = await externalPrincipals.list(params.userId, pageRequest(query));
      return authPageView(page, externalPrincipalView);
    },

    async getExternalPrincipal({ query }) {
      return externalPrincipalView(await externalPrincipals.get(query.principalId));
    },
  };
}
