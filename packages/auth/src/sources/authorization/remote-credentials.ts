import { generateKeyPair } from '../../crypto/generate-key-pair.ts';
import { checkKeyPair, isAccessKeyId } from '../../id-rules.ts';
import type {
  AuthActor,
  Credentials,
  CredentialsWithSecret,
  KeyPair,
  Page,
  PageRequest,
} from '../../model.ts';
import type { DirectoryContext, DirectoryCredentials } from '../../rbac/directory.ts';
import { credentialsNotFound, userNotFound } from '../../rbac/refusals.ts';
import { keys } from '../../store/keys.ts';
import { type AuthorizationClient, failed, type Json, segment } from './client.ts';
import { optional, readUser, required, seconds } from './wire.ts';

/** Access keys of the authorization service. Which are bound to a bucket is kept here, where buckets are. */
export class RemoteCredentials implements DirectoryCredentials {
  readonly #client: AuthorizationClient;
  readonly #context: DirectoryContext;

  constructor(client: AuthorizationClient, context: DirectoryContext) {
    this.#client = client;
    this.#context = context;
  }

  async create(
    username: string,
    actor: AuthActor,
    given?: KeyPair,
    makeView?: (accessKeyId: string) => Promise<unknown>,
  ): Promise<CredentialsWithSecret> {
    // A view is made before its key, so the key must have a name by then.
    const key = given ?? (makeView === undefined ? undefined : generateKeyPair());
    if (key !== undefined) checkKeyPair(key);
    if (key !== undefined && makeView !== undefined) {
      await this.#context.store.setText(keys.boundKey(key.accessKeyId), 'true');
      await makeView(key.accessKeyId);
    }
    const query = key && { access_key: key.accessKeyId, secret_key: key.secretAccessKey };
    const made = await this.#client.ask('POST', pathOf(username), 201, { query, absent: userNotFound });
    const credentials = {
      accessKeyId: required(made, 'access_key_id'),
      secretAccessKey: required(made, 'secret_access_key'),
      issuedAt: seconds(made['creation_date']),
      username,
      hasView: makeView !== undefined,
    };
    await this.#changed(credentials.accessKeyId, username, actor, 'credentials created');
    return credentials;
  }

  async setHasView(username: string, accessKeyId: string, hasView: boolean, actor: AuthActor): Promise<void> {
    await this.get(username, accessKeyId);
    const { store } = this.#context;
    if (hasView) await store.setText(keys.boundKey(accessKeyId), 'true');
    else await store.delete(keys.boundKey(accessKeyId));
    const event = hasView ? 'credentials bound to a bucket' : 'credentials unbound';
    await this.#changed(accessKeyId, username, actor, event);
  }

  async get(username: string, accessKeyId: string): Promise<Credentials> {
    const absent = credentialsNotFound;
    const json = await this.#client.ask('GET', keyPath(username, accessKeyId), 200, { absent });
    return this.#credentials(json, username);
  }

  async list(username: string, page: PageRequest = {}): Promise<Page<Credentials>> {
    const absent = userNotFound;
    const found = await this.#client.page(pathOf(username), page, (json) => json, { absent });
    const results = await Promise.all(found.results.map((json) => this.#credentials(json, username)));
    return { ...found, results };
  }

  async delete(username: string, accessKeyId: string, actor: AuthActor): Promise<void> {
    await this.#client.ask('DELETE', keyPath(username, accessKeyId), 204, { absent: credentialsNotFound });
    await this.#context.store.delete(keys.boundKey(accessKeyId));
    await this.#changed(accessKeyId, username, actor, 'credentials deleted');
  }

  async reveal(accessKeyId: string): Promise<CredentialsWithSecret | undefined> {
    // Whatever else callers send is no key that there could be.
    if (!isAccessKeyId(accessKeyId)) return undefined;
    const json = await this.#client.askFor(`/auth/credentials/${segment(accessKeyId)}`);
    if (json === undefined) return undefined;
    const username = optional(json['user_name']) ?? (await this.#usernameOf(json['user_id']));
    const credentials = await this.#credentials(json, username);
    // An answer about another key must not open this one.
    if (credentials.accessKeyId !== accessKeyId)
      throw failed('it revealed another key than it was asked for');
    return { ...credentials, secretAccessKey: required(json, 'secret_access_key') };
  }

  /** Services of old say by number whose a key is. */
  async #usernameOf(id: unknown): Promise<string> {
    if (typeof id !== 'number' && typeof id !== 'string') throw failed('a key belongs to nobody');
    const { results } = await this.#client.page('/auth/users', { amount: 2 }, readUser, { query: { id } });
    const [user, ...others] = results;
    if (user === undefined || others.length > 0) throw failed('no one user has the id of a key');
    return user.username;
  }

  async #credentials(json: Json, username: string): Promise<Credentials> {
    const accessKeyId = required(json, 'access_key_id');
    const hasView = (await this.#context.store.text(keys.boundKey(accessKeyId))) !== undefined;
    return { accessKeyId, issuedAt: seconds(json['creation_date']), username, hasView };
  }

  async #changed(accessKeyId: string, username: string, actor: AuthActor, event: string): Promise<void> {
    await this.#context.changes.credential(accessKeyId);
    this.#context.log(actor, event, { user: username, access_key_id: accessKeyId });
  }
}

function pathOf(username: string): string {
  return `/auth/users/${segment(username)}/credentials`;
}

function keyPath(username: string, accessKeyId: string): string {
  return `${pathOf(username)}/${segment(accessKeyId)}`;
}
