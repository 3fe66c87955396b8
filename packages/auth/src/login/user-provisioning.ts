import type { AuthLogger, Groups, Users } from '../auth.ts';
import { AuthError } from '../errors.ts';
import type { User } from '../model.ts';

export interface ForeignUser {
  readonly id: string;
  readonly friendlyName: string;
  readonly source: string;
  readonly group: string;
}

/** Makes the local record of a user whom another system vouches for. */
export class UserProvisioning {
  readonly #users: Users;
  readonly #groups: Groups;
  readonly #logger: AuthLogger;

  constructor(users: Users, groups: Groups, logger: AuthLogger) {
    this.#users = users;
    this.#groups = groups;
    this.#logger = logger;
  }

  /** The user, or the reason why there can be none. Groups of a known user are never changed. */
  async ensureUser(foreign: ForeignUser): Promise<User | string> {
    const known = await this.#find(foreign.id);
    if (known !== undefined)
      return known.source === foreign.source ? known : 'name belongs to another source';
    const actor = { username: foreign.source };
    let user;
    try {
      user = await this.#users.create(
        { username: foreign.id, friendlyName: foreign.friendlyName, source: foreign.source },
        actor,
      );
    } catch (error) {
      if (!(error instanceof AuthError)) throw error;
      if (error.kind === 'invalid') return 'name cannot be a user id';
      if (error.kind !== 'already_exists') throw error;
      const winner = await this.#find(foreign.id);
      return winner?.source === foreign.source ? winner : 'name belongs to another source';
    }
    try {
      await this.#groups.addMember(foreign.group, user.username, actor);
      return user;
    } catch (error) {
      await this.#users.delete(user.username, actor);
      if (!(error instanceof AuthError) || error.kind !== 'not_found') throw error;
      this.#logger.warn(
        { group: foreign.group, source: foreign.source },
        'the group of new users does not exist',
      );
      return 'group of new users does not exist';
    }
  }

  async #find(id: string): Promise<User | undefined> {
    try {
      return await this.#users.get(id);
    } catch (error) {
      if (error instanceof AuthError && error.kind === 'not_found') return undefined;
      throw error;
    }
  }
}
