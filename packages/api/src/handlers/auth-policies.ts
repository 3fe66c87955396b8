import { isIP } from 'node:net';
import { arn, one } from '@svc/auth';
import { Answer } from '../answer/answer.ts';
import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { authPageView } from '../views/auth-page.ts';
import { RequestError } from '../request/request-error.ts';
import { policyView } from '../views/identity.ts';
import { simulationView } from '../views/simulation.ts';
import { authActor } from './shared/auth-actor.ts';
import { pageRequest } from './shared/page-request.ts';

export function authPolicyHandlers({ auth }: ApiOptions): HandlersOf<'auth-policies'> {
  const { policies } = auth;
  return {
    async listPolicies({ query }) {
      return authPageView(await policies.list(pageRequest(query)), policyView);
    },

    async createPolicy(call) {
      const { query, body } = call;
      if (query.update === true) {
        return Answer.json(200, policyView(await policies.update(body.id, body, authActor(call))));
      }
      if (body.statement.some(({ principal }) => principal !== undefined))
        await call.ensure(one('auth:AttachPolicy', arn.policy(body.id)));
      return Answer.json(201, policyView(await policies.create(body, authActor(call))));
    },

    async getPolicy({ params }) {
      return policyView(await policies.get(params.policyId));
    },

    async updatePolicy(call) {
      return policyView(await policies.update(call.params.policyId, call.body, authActor(call)));
    },

    async deletePolicy(call) {
      await policies.delete(call.params.policyId, authActor(call));
    },

    async simulatePermission({ body, identity, client }) {
      const { user, action, resource, source_ip: sourceIp = client.ip, policy: draft } = body;
      if (isIP(sourceIp) === 0) throw new RequestError(400, `source_ip "${sourceIp}" is not an IP address`);
      const simulation = await auth.simulate({ username: user, action, resource, sourceIp, draft });
      const permissions = await auth.permissionsOf(identity, client);
      const mayRead = (id: string): boolean =>
        id === draft?.id || permissions.check(one('auth:ReadPolicy', arn.policy(id))).allowed;
      return simulationView(simulation, mayRead);
    },
  };
}
