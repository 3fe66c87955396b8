import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { authPageView } from '../views/auth-page.ts';
import { groupView, policyView, userView } from '../views/identity.ts';
import { authActor } from './shared/auth-actor.ts';
import { pageRequest } from './shared/page-request.ts';

export function authGroupHandlers({ auth: { groups } }: ApiOptions): HandlersOf<'auth-groups'> {
  return {
    async listGroups({ query }) {
      return authPageView(await groups.list(pageRequest(query)), groupView);
    },

    async createGroup(call) {
      return groupView(await groups.create(call.body, authActor(call)));
    },

    async getGroup({ params }) {
      return groupView(await groups.get(params.groupId));
    },

    async deleteGroup(call) {
      await groups.delete(call.params.groupId, authActor(call));
    },

    async listGroupMembers({ params, query }) {
      return authPageView(await groups.members(params.groupId, pageRequest(query)), userView);
    },

    async addGroupMembership(call) {
      await groups.addMember(call.params.groupId, call.params.userId, authActor(call));
    },

    async deleteGroupMembership(call) {
      await groups.removeMember(call.params.groupId, call.params.userId, authActor(call));
    },

    async listGroupPolicies({ params, query }) {
      return authPageView(await groups.policies(params.groupId, pageRequest(query)), policyView);
    },

    async attachPolicyToGroup(call) {
      await groups.attachPolicy(call.params.groupId, call.params.policyId, authActor(call));
    },

    async detachPolicyFromGroup(call) {
      await groups.detachPolicy(call.params.groupId, call.params.policyId, authActor(call));
    },

    async getGroupACL({ params }) {
      return { permission: await groups.acl(params.groupId) };
    },

    async setGroupACL(call) {
      await groups.setAcl(call.params.groupId, call.body.permission, authActor(call));
    },
  };
}
