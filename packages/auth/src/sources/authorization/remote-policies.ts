import type { Policies, PolicyInput } from '../../auth.ts';
import { AuthError } from '../../errors.ts';
import type { AuthActor, Page, PageRequest, Policy } from '../../model.ts';
import { validatePolicy } from '../../policy/policy-validation.ts';
import type { DirectoryContext } from '../../rbac/directory.ts';
import { policyNotFound } from '../../rbac/refusals.ts';
import { type AuthorizationClient, segment } from './client.ts';
import { readPolicy, writePolicy } from './wire.ts';

const absent = policyNotFound;

/** Policies of the authorization service. It keeps them; what they mean is decided here. */
export class RemotePolicies implements Policies {
  readonly #client: AuthorizationClient;
  readonly #context: DirectoryContext;

  constructor(client: AuthorizationClient, context: DirectoryContext) {
    this.#client = client;
    this.#context = context;
  }

  async create(policy: PolicyInput, actor: AuthActor): Promise<Policy> {
    validatePolicy(policy);
    segment(policy.id);
    await this.#client.ask('POST', '/auth/policies', 201, { body: writePolicy(policy) });
    await this.#context.changes.policies();
    this.#context.log(actor, 'policy created', { policy: policy.id });
    return this.get(policy.id);
  }

  async get(id: string): Promise<Policy> {
    return readPolicy(await this.#client.ask('GET', pathOf(id), 200, { absent }));
  }

  list(page: PageRequest = {}): Promise<Page<Policy>> {
    return this.#client.page('/auth/policies', page, readPolicy);
  }

  async update(id: string, policy: PolicyInput, actor: AuthActor): Promise<Policy> {
    if (policy.id !== id) throw new AuthError('invalid', "can't update policy id");
    validatePolicy(policy, { isNew: false });
    await this.#client.ask('PUT', pathOf(id), 200, { body: writePolicy(policy), absent });
    await this.#context.changes.policies();
    this.#context.log(actor, 'policy updated', { policy: id });
    return this.get(id);
  }

  async delete(id: string, actor: AuthActor): Promise<void> {
    await this.#client.ask('DELETE', pathOf(id), 204, { absent });
    await this.#context.changes.policies();
    this.#context.log(actor, 'policy deleted', { policy: id });
  }
}

function pathOf(id: string): string {
  return `/auth/policies/${segment(id)}`;
}
