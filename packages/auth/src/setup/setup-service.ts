import { randomUUID } from 'node:crypto';
import { groupMessage, policyMessage } from '@svc/encoding';
import type { CredentialKeys, Groups, Users } from '../auth.ts';
import { AuthError } from '../errors.ts';
import { checkId, checkKeyPair, isEmailAddress } from '../id-rules.ts';
import type { ClientOrigin } from '../identity.ts';
import type { FailureLimits } from '../login/failure-limits.ts';
import type { CredentialsWithSecret, KeyPair, RbacMode } from '../model.ts';
import { aclPolicyId, aclStatements } from '../rbac/acl.ts';
import { adminsGroup, baseAcls, baseGroups, basePolicies } from '../rbac/base-grants.ts';
import type { RbacContext } from '../rbac/context.ts';
import { logChange } from '../rbac/context.ts';
import { keys } from '../store/keys.ts';
import { policyData, storedTime } from '../store/records.ts';
import type { CommPrefs, Setup, SetupInput, SetupState } from './contract.ts';
import type { InstallationStore } from './installation-store.ts';

const claimLifetimeMs = 60_000;
const actor = { username: 'setup' };

export interface SetupOptions {
  readonly context: RbacContext;
  readonly mode: RbacMode;
  readonly users: Users;
  readonly groups: Groups;
  readonly credentials: CredentialKeys;
  readonly installation: InstallationStore;
  readonly limits: FailureLimits;
}

/** Turns an empty store into an installation with one administrator, once. */
export class SetupService implements Setup {
  readonly #options: SetupOptions;

  constructor(options: SetupOptions) {
    this.#options = options;
  }

  async state(): Promise<SetupState> {
    const initialized = await this.#isInitialized();
    const { store } = this.#options.context;
    const prefs = initialized ? await store.text(keys.metadata('comm_prefs_set')) : undefined;
    return { initialized, commPrefsMissing: prefs === 'false' };
  }

  async run(input: SetupInput, client?: ClientOrigin): Promise<CredentialsWithSecret> {
    const { limits } = this.#options;
    if (client !== undefined) limits.require('setup', client.ip);
    try {
      return await this.#run(input);
    } catch (error) {
      // This refusal costs one read and reveals nothing, so it is not limited.
      const harmless = error instanceof AuthError && error.kind === 'already_initialized';
      if (client !== undefined && !harmless) await limits.failed('setup', client.ip);
      throw error;
    }
  }

  async setCommPrefs(prefs: CommPrefs): Promise<void> {
    const { store } = this.#options.context;
    if (!(await this.#isInitialized())) throw new AuthError('not_initialized', 'setup is not complete');
    const stored = await store.textStored(keys.metadata('comm_prefs_set'));
    if (stored?.record === 'true') throw prefsAlreadySet();
    if (prefs.email === undefined || prefs.email === '') throw new AuthError('invalid', 'email is required');
    if (!isEmailAddress(prefs.email)) throw invalidEmail();
    const claimed = await store.setTextIf(
      keys.metadata('comm_prefs_set'),
      'true',
      stored?.predicate ?? 'absent',
    );
    if (!claimed) throw prefsAlreadySet();
    await this.#storePrefs(prefs);
  }

  async createSuperuser(username: string, key?: KeyPair): Promise<CredentialsWithSecret> {
    if (!(await this.#isInitialized())) {
      throw new AuthError('not_initialized', 'setup is not complete; run "svc setup" first');
    }
    if (key !== undefined) checkKeyPair(key);
    await this.#ensureGroup(adminsGroup);
    return this.#createAdministrator(username, key);
  }

  async #run({ username, key, commPrefs = {} }: SetupInput): Promise<CredentialsWithSecret> {
    const { context, installation, mode } = this.#options;
    if (username === '') throw new AuthError('invalid', 'empty user display name');
    if (await this.#isInitialized()) throw alreadyInitialized();
    const { email = '' } = commPrefs;
    if (email !== '' && !isEmailAddress(email)) throw invalidEmail();
    checkId('User', username);
    if (key !== undefined) checkKeyPair(key);

    const release = await this.#claim();
    try {
      if (await this.#isInitialized()) throw alreadyInitialized();
      await installation.checkSecretKey();
      await context.store.setText(keys.metadata('comm_prefs_set'), String(email !== ''));
      await this.#storePrefs(commPrefs);
      for (const group of Object.keys(baseGroups)) await this.#ensureGroup(group);
      if (mode !== 'simplified') {
        for (const [id, statement] of Object.entries(basePolicies))
          await this.#ensurePolicy({ id, statement });
      }
      await this.#removeLeftover(username, key);
      const credentials = await this.#createAdministrator(username, key);
      await this.#finish(username);
      return credentials;
    } finally {
      await release();
    }
  }

  async #finish(username: string): Promise<void> {
    const { context, mode, users } = this.#options;
    const { store, clock } = context;
    const now = new Date(clock()).toISOString();
    await store.setText(keys.metadata(`setup_auth_${mode}`), now);
    if (await store.setTextIf(keys.metadata('setup_timestamp'), now, 'absent')) {
      logChange(context, actor, 'setup complete', { user: username });
      return;
    }
    await users.delete(username, actor);
    throw alreadyInitialized();
  }

  async #createAdministrator(username: string, key?: KeyPair): Promise<CredentialsWithSecret> {
    const { users, groups, credentials } = this.#options;
    await users.create({ username }, actor);
    try {
      await groups.addMember(adminsGroup, username, actor);
      return await credentials.create(username, actor, key);
    } catch (error) {
      await users.delete(username, actor);
      throw error;
    }
  }

  /** A setup that was interrupted leaves a user nobody has the key of; before the setup there is no other. */
  async #removeLeftover(username: string, key: KeyPair | undefined): Promise<void> {
    const { users, context } = this.#options;
    if (await context.store.exists(keys.user(username))) await users.delete(username, actor);
    if (key === undefined) return;
    for await (const { name } of context.store.entries(keys.users)) {
      if (await context.store.exists(keys.userCredentials(name) + key.accessKeyId))
        await users.delete(name, actor);
    }
  }

  /** Claims the right to set up. A claim holds for a minute. */
  async #claim(): Promise<() => Promise<void>> {
    const { store, clock } = this.#options.context;
    const key = keys.metadata('setup_claim');
    const claim = `${clock()} ${randomUUID()}`;
    const other = await store.textStored(key);
    const isLive = other !== undefined && clock() - Number.parseInt(other.record, 10) < claimLifetimeMs;
    if (isLive || !(await store.setTextIf(key, claim, other?.predicate ?? 'absent'))) {
      throw new AuthError('already_initialized', 'another setup is in progress');
    }
    return async () => {
      const current = await store.textStored(key);
      if (current?.record === claim) await store.deleteTextIf(key, current.predicate);
    };
  }

  /** A base group with what belongs to it; what exists already is left as it is. */
  async #ensureGroup(id: string): Promise<void> {
    const { context, mode } = this.#options;
    const { store, clock } = context;
    const record = { createdAt: storedTime(clock), displayName: id, description: '' };
    await store.create(groupMessage, keys.group(id), record);
    const acl = baseAcls[id];
    const policies =
      mode === 'simplified' && acl !== undefined
        ? [{ id: aclPolicyId(id), statement: aclStatements(acl), acl }]
        : (baseGroups[id] ?? []).map((policy) => ({ id: policy, statement: basePolicies[policy] ?? [] }));
    for (const policy of policies) {
      await this.#ensurePolicy(policy);
      await store.createIndex(keys.groupPolicies(id) + policy.id, keys.policy(policy.id));
    }
    await context.changes.policies();
  }

  async #ensurePolicy(policy: Parameters<typeof policyData>[0]): Promise<void> {
    const { store, clock } = this.#options.context;
    await store.create(policyMessage, keys.policy(policy.id), policyData(policy, storedTime(clock)));
  }

  async #storePrefs(prefs: Partial<CommPrefs>): Promise<void> {
    const { store } = this.#options.context;
    const texts: readonly (readonly [string, string | undefined])[] = [
      ['encoded_user_email', prefs.email],
      ['encoded_user_first_name', prefs.firstName],
      ['encoded_user_last_name', prefs.lastName],
      ['encoded_user_company_name', prefs.companyName],
    ];
    for (const [name, text] of texts) {
      if (text === undefined || text === '') continue;
      await store.setText(keys.metadata(name), Buffer.from(text).toString('base64'));
    }
    await store.setText(keys.metadata('feature_updates'), String(prefs.featureUpdates ?? false));
    await store.setText(keys.metadata('security_updates'), String(prefs.securityUpdates ?? false));
  }

  async #isInitialized(): Promise<boolean> {
    return (await this.#options.installation.setupTimestamp()) !== undefined;
  }
}

function alreadyInitialized(): AuthError {
  return new AuthError('already_initialized', 'Setup is already complete.');
}

function prefsAlreadySet(): AuthError {
  return new AuthError('already_exists', 'communication preferences are already set');
}

function invalidEmail(): AuthError {
  return new AuthError('invalid', 'invalid email address');
}
