import type { ExternalPrincipals } from '../auth.ts';
import { AuthError } from '../errors.ts';
import type { AuthActor, ExternalPrincipal, Page, PageRequest } from '../model.ts';
import { base64url, keys } from '../store/keys.ts';
import { logChange, type RbacContext } from './context.ts';
import { pageOf } from './paging.ts';
import { alreadyExists, userNotFound } from './refusals.ts';

/** Identities of other systems, each standing for one user. */
export class ExternalPrincipalStore implements ExternalPrincipals {
  readonly #context: RbacContext;

  constructor(context: RbacContext) {
    this.#context = context;
  }

  async attach(username: string, principalId: string, actor: AuthActor): Promise<void> {
    const { store, changes } = this.#context;
    await this.#requireUser(username);
    if (principalId === '') throw new AuthError('invalid', 'principalId must not be empty');
    const listed = keys.userExternalPrincipals(username) + base64url(principalId);
    if ((await store.target(keys.externalPrincipal(principalId))) !== undefined) throw alreadyExists();
    await store.setIndex(listed, keys.externalPrincipal(principalId));
    if (!(await store.createIndex(keys.externalPrincipal(principalId), keys.user(username))))
      throw alreadyExists();
    if (!(await store.exists(keys.user(username)))) {
      await store.delete(keys.externalPrincipal(principalId));
      await store.delete(listed);
      throw userNotFound();
    }
    await changes.externalPrincipal(principalId);
    logChange(this.#context, actor, 'external principal attached', {
      user: username,
      principal: principalId,
    });
  }

  async detach(username: string, principalId: string, actor: AuthActor): Promise<void> {
    const { store, changes } = this.#context;
    await this.#requireUser(username);
    if ((await this.find(principalId))?.username !== username) throw principalNotFound();
    await store.delete(keys.externalPrincipal(principalId));
    await store.delete(keys.userExternalPrincipals(username) + base64url(principalId));
    await changes.externalPrincipal(principalId);
    logChange(this.#context, actor, 'external principal detached', {
      user: username,
      principal: principalId,
    });
  }

  async list(username: string, page: PageRequest = {}): Promise<Page<ExternalPrincipal>> {
    await this.#requireUser(username);
    const names = await this.#context.store.names(keys.userExternalPrincipals(username));
    const found = await Promise.all(
      names.map((name) => this.find(Buffer.from(name, 'base64url').toString())),
    );
    const own = found
      .filter((principal) => principal !== undefined)
      .filter((each) => each.username === username);
    return pageOf(own, (principal) => principal.id, page);
  }

  async get(principalId: string): Promise<ExternalPrincipal> {
    const found = await this.find(principalId);
    if (found === undefined) throw principalNotFound();
    return found;
  }

  async find(principalId: string): Promise<ExternalPrincipal | undefined> {
    const target = await this.#context.store.target(keys.externalPrincipal(principalId));
    if (target === undefined || !(await this.#context.store.exists(target))) return undefined;
    return { id: principalId, username: target.slice(keys.users.length) };
  }

  async #requireUser(username: string): Promise<void> {
    if (!(await this.#context.store.exists(keys.user(username)))) throw userNotFound();
  }
}

function principalNotFound(): AuthError {
  return new AuthError('not_found', 'external principal not found');
}
