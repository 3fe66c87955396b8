import { policyMessage } from '@svc/encoding';
import type { Policies, PolicyInput } from '../auth.ts';
import { AuthError } from '../errors.ts';
import type { AuthActor, Page, PageRequest, Policy } from '../model.ts';
import { namesAnonymous } from '../policy/anonymous.ts';
import { validatePolicy } from '../policy/policy-validation.ts';
import { keys } from '../store/keys.ts';
import { policyData, policyFrom, storedTime } from '../store/records.ts';
import { changeEvent, logChange, type RbacContext } from './context.ts';
import { pageAmount, scanOf, takePage } from './paging.ts';
import { alreadyExists, policyNotFound } from './refusals.ts';

export class PolicyStore implements Policies {
  readonly #context: RbacContext;

  constructor(context: RbacContext) {
    this.#context = context;
  }

  async create(policy: PolicyInput, actor: AuthActor): Promise<Policy> {
    validatePolicy(policy);
    const { store, clock, changes } = this.#context;
    const data = policyData(policy, storedTime(clock));
    const event = changeEvent(actor, 'policy.created', `policy/${policy.id}`);
    if (!(await store.create(policyMessage, keys.policy(policy.id), data, event))) throw alreadyExists();
    // Nobody has it yet, but what it says of anonymous requests is in force at once.
    if (namesAnonymous(policy)) await changes.policies();
    logChange(this.#context, actor, 'policy created', { policy: policy.id });
    return policyFrom(data);
  }

  async get(id: string): Promise<Policy> {
    const data = await this.#context.store.get(policyMessage, keys.policy(id));
    if (data === undefined) throw policyNotFound();
    return policyFrom(data);
  }

  async list(page: PageRequest = {}): Promise<Page<Policy>> {
    const amount = pageAmount(page);
    return takePage(
      this.#context.store.entries(keys.policies, scanOf(page, amount)),
      amount,
      ({ name }) => name,
      ({ value }) => policyFrom(policyMessage.decode(value)),
    );
  }

  async update(id: string, policy: PolicyInput, actor: AuthActor): Promise<Policy> {
    if (policy.id !== id) throw new AuthError('invalid', "can't update policy id");
    const { store, changes } = this.#context;
    const existing = await store.get(policyMessage, keys.policy(id));
    if (existing === undefined) throw policyNotFound();
    validatePolicy(policy, { isNew: false });
    const data = policyData(policy, existing.createdAt);
    const event = changeEvent(actor, 'policy.updated', `policy/${id}`);
    if (!(await store.write(policyMessage, keys.policy(id), data, 'present', event))) throw policyNotFound();
    await changes.policies();
    logChange(this.#context, actor, 'policy updated', { policy: id });
    return policyFrom(data);
  }

  async delete(id: string, actor: AuthActor): Promise<void> {
    const { store, changes } = this.#context;
    await this.get(id);
    for (const folder of [keys.allUserPolicies, keys.allGroupPolicies]) {
      for await (const { name } of store.entries(folder)) {
        if (name.endsWith(`/policies/${id}`)) await store.delete(folder + name);
      }
    }
    await store.delete(keys.policy(id), changeEvent(actor, 'policy.deleted', `policy/${id}`));
    await changes.policies();
    logChange(this.#context, actor, 'policy deleted', { policy: id });
  }
}
