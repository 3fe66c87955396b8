import { credentialMessage, userMessage, type CredentialData } from '@svc/encoding';
import type { CredentialKeys } from '../auth.ts';
import { generateKeyPair } from '../crypto/generate-key-pair.ts';
import { credentialBinding, openSecret, sealSecret } from '../crypto/secret-box.ts';
import { AuthError } from '../errors.ts';
import { checkKeyPair } from '../id-rules.ts';
import type { AuthActor, Credentials, CredentialsWithSecret, KeyPair, Page, PageRequest } from '../model.ts';
import { keys } from '../store/keys.ts';
import { credentialsFrom, storedTime } from '../store/records.ts';
import { changeEvent, logChange, type RbacContext } from './context.ts';
import { pageAmount, scanOf, takePage } from './paging.ts';
import { alreadyExists, credentialsNotFound, userNotFound } from './refusals.ts';

/**
 * The record of a key is found by every signed request; the entry below its user lists it. The listing entry is
 * written first and removed last: no key can live that its user's deletion would not find.
 */
export class CredentialStore implements CredentialKeys {
  readonly #context: RbacContext;

  constructor(context: RbacContext) {
    this.#context = context;
  }

  async create(
    username: string,
    actor: AuthActor,
    given?: KeyPair,
    makeView?: (accessKeyId: string) => Promise<unknown>,
  ): Promise<CredentialsWithSecret> {
    const key = given ?? generateKeyPair();
    checkKeyPair(key);
    const { store, clock, changes } = this.#context;
    await this.#requireUser(username);
    const { accessKeyId, secretAccessKey } = key;
    const record: CredentialData = {
      accessKeyId,
      secretAccessKeyEncryptedBytes: sealSecret(
        this.#context.keys,
        secretAccessKey,
        credentialBinding(accessKeyId, username),
      ),
      issuedDate: storedTime(clock),
      userId: Buffer.from(username),
      hasView: makeView !== undefined,
    };
    if (await store.exists(keys.credential(accessKeyId))) throw alreadyExists();
    // Before the key: it never works without its view.
    await makeView?.(accessKeyId);
    await store.setIndex(keys.userCredentials(username) + accessKeyId, keys.credential(accessKeyId));
    const data = { access_key_id: accessKeyId };
    const event = changeEvent(actor, 'credentials.created', `user/${username}`, data);
    if (!(await store.create(credentialMessage, keys.credential(accessKeyId), record, event)))
      throw alreadyExists();
    if (!(await store.exists(keys.user(username)))) {
      await store.delete(keys.credential(accessKeyId));
      await store.delete(keys.userCredentials(username) + accessKeyId);
      throw userNotFound();
    }
    await changes.credential(accessKeyId);
    logChange(this.#context, actor, 'credentials created', { user: username, access_key_id: accessKeyId });
    return { ...credentialsFrom(record), secretAccessKey };
  }

  async get(username: string, accessKeyId: string): Promise<Credentials> {
    await this.#requireUser(username);
    const credentials = await this.#ofUser(username, accessKeyId);
    if (credentials === undefined) throw credentialsNotFound();
    return credentials;
  }

  async list(username: string, page: PageRequest = {}): Promise<Page<Credentials>> {
    await this.#requireUser(username);
    const amount = pageAmount(page);
    return takePage(
      this.#context.store.entries(keys.userCredentials(username), scanOf(page, amount)),
      amount,
      ({ name }) => name,
      ({ name }) => this.#ofUser(username, name),
    );
  }

  async setHasView(username: string, accessKeyId: string, hasView: boolean, actor: AuthActor): Promise<void> {
    const { store, changes } = this.#context;
    for (;;) {
      await this.get(username, accessKeyId);
      const stored = await store.getStored(credentialMessage, keys.credential(accessKeyId));
      if (stored === undefined) throw credentialsNotFound();
      const changed = { ...stored.record, hasView };
      if (await store.write(credentialMessage, keys.credential(accessKeyId), changed, stored.predicate))
        break;
    }
    await changes.credential(accessKeyId);
    logChange(this.#context, actor, hasView ? 'credentials bound to a bucket' : 'credentials unbound', {
      user: username,
      access_key_id: accessKeyId,
    });
  }

  async delete(username: string, accessKeyId: string, actor: AuthActor): Promise<void> {
    const { store, changes } = this.#context;
    await this.get(username, accessKeyId);
    const data = { access_key_id: accessKeyId };
    const event = changeEvent(actor, 'credentials.deleted', `user/${username}`, data);
    await store.delete(keys.credential(accessKeyId), event);
    await store.delete(keys.userCredentials(username) + accessKeyId);
    await changes.credential(accessKeyId);
    logChange(this.#context, actor, 'credentials deleted', { user: username, access_key_id: accessKeyId });
  }

  /** A key and its secret, for verification; undefined when there is no such key. */
  async reveal(accessKeyId: string): Promise<CredentialsWithSecret | undefined> {
    const record = await this.#context.store.get(credentialMessage, keys.credential(accessKeyId));
    if (record === undefined) return undefined;
    const credentials = credentialsFrom(record);
    const secretAccessKey = openSecret(
      this.#context.keys,
      record.secretAccessKeyEncryptedBytes,
      credentialBinding(accessKeyId, credentials.username),
    );
    if (secretAccessKey === undefined) {
      throw new AuthError('unavailable', 'internal server error', {
        cause: new Error(`the secret of access key ${accessKeyId} cannot be decrypted`),
      });
    }
    return { ...credentials, secretAccessKey };
  }

  async #ofUser(username: string, accessKeyId: string): Promise<Credentials | undefined> {
    const record = await this.#context.store.get(credentialMessage, keys.credential(accessKeyId));
    const credentials = record === undefined ? undefined : credentialsFrom(record);
    return credentials?.username === username ? credentials : undefined;
  }

  async #requireUser(username: string): Promise<void> {
    if ((await this.#context.store.get(userMessage, keys.user(username))) === undefined) throw userNotFound();
  }
}
