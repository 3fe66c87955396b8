import { AuthError } from '../../errors.ts';
import type { AuthActor, ExternalPrincipal, Page, PageRequest } from '../../model.ts';
import type { DirectoryContext, DirectoryPrincipals } from '../../rbac/directory.ts';
import { userNotFound } from '../../rbac/refusals.ts';
import { type AuthorizationClient, type Json, segment } from './client.ts';
import { required } from './wire.ts';

/** External principals of the authorization service. */
export class RemotePrincipals implements DirectoryPrincipals {
  readonly #client: AuthorizationClient;
  readonly #context: DirectoryContext;

  constructor(client: AuthorizationClient, context: DirectoryContext) {
    this.#client = client;
    this.#context = context;
  }

  async attach(username: string, principalId: string, actor: AuthActor): Promise<void> {
    if (principalId === '') throw new AuthError('invalid', 'principalId must not be empty');
    await this.#client.ask('POST', pathOf(username), 201, { query: { principalId }, absent: userNotFound });
    await this.#changed(username, principalId, actor, 'external principal attached');
  }

  async detach(username: string, principalId: string, actor: AuthActor): Promise<void> {
    const absent = principalNotFound;
    await this.#client.ask('DELETE', pathOf(username), 204, { query: { principalId }, absent });
    await this.#changed(username, principalId, actor, 'external principal detached');
  }

  list(username: string, page: PageRequest = {}): Promise<Page<ExternalPrincipal>> {
    return this.#client.page(`${pathOf(username)}/ls`, page, readPrincipal, { absent: userNotFound });
  }

  async get(principalId: string): Promise<ExternalPrincipal> {
    const found = await this.find(principalId);
    if (found === undefined) throw principalNotFound();
    return found;
  }

  async find(principalId: string): Promise<ExternalPrincipal | undefined> {
    const json = await this.#client.askFor('/auth/external/principals', { principalId });
    return json === undefined ? undefined : readPrincipal(json);
  }

  async #changed(username: string, principal: string, actor: AuthActor, event: string): Promise<void> {
    await this.#context.changes.externalPrincipal(principal);
    this.#context.log(actor, event, { user: username, principal });
  }
}

function readPrincipal(json: Json): ExternalPrincipal {
  return { id: required(json, 'id'), username: required(json, 'user_id') };
}

function pathOf(username: string): string {
  return `/auth/users/${segment(username)}/external/principals`;
}

function principalNotFound(): AuthError {
  return new AuthError('not_found', 'external principal not found');
}
