import { AuthError } from '../errors.ts';
import type { AuthActor, Page, PageRequest } from '../model.ts';
import { logChange, type RbacContext } from '../rbac/context.ts';
import { pageAmount, scanOf, takePage } from '../rbac/paging.ts';
import { keys } from '../store/keys.ts';
import type { Session, SessionInfo, SessionOrigin, UserSessions } from '../auth.ts';

interface StoredSession {
  readonly beganAt: number;
  readonly expiresAt: number;
  readonly ip: string;
  readonly agent: string;
  readonly accessKeyId?: string | undefined;
}

/** What callers say they are is kept up to this length. */
const maxAgent = 200;
/** Some programs log in before every call: of each user the newest sessions are listed, about this many. */
const maxListed = 1000;
/** A process looks at how many there are after so many logins of a user. */
const countEvery = 100;
/** Users whose logins a process counts. */
const maxCounted = 10_000;

interface SessionStoreParts {
  readonly context: RbacContext;
  /** Ends every session of a user, the unknown ones too. */
  readonly endAll: (username: string, actor: AuthActor) => Promise<void>;
}

/**
 * The sessions of people: which there are, and which were ended before their time. A token is good without a record,
 * so that one issued before records were kept still is; a session that was ended stays known until its token expires.
 */
export class SessionStore implements UserSessions {
  readonly #context: RbacContext;
  readonly #endAll: SessionStoreParts['endAll'];
  readonly #begun = new Map<string, number>();

  constructor({ context, endAll }: SessionStoreParts) {
    this.#context = context;
    this.#endAll = endAll;
  }

  async begin(session: Session, origin: SessionOrigin, accessKeyId: string | undefined): Promise<void> {
    const { store, clock } = this.#context;
    const record: StoredSession = {
      beganAt: Math.floor(clock() / 1000),
      expiresAt: session.expiresAt,
      ip: origin.ip,
      agent: origin.agent.slice(0, maxAgent),
      accessKeyId,
    };
    await store.setText(keys.sessions(session.username) + session.id, JSON.stringify(record));
    const begun = (this.#begun.get(session.username) ?? 0) + 1;
    if (begun < countEvery) {
      if (this.#begun.size >= maxCounted) this.#begun.clear();
      this.#begun.set(session.username, begun);
      return;
    }
    this.#begun.delete(session.username);
    await this.#forgetOldest(session.username);
  }

  /** Their tokens stay good, and end with all the others. */
  async #forgetOldest(username: string): Promise<void> {
    const { store } = this.#context;
    const listed: { readonly name: string; readonly beganAt: number }[] = [];
    for await (const { name, value } of store.entries(keys.sessions(username)))
      listed.push({ name, beganAt: (JSON.parse(value.toString()) as StoredSession).beganAt });
    listed.sort((one, other) => other.beganAt - one.beganAt);
    for (const { name } of listed.slice(maxListed)) await store.delete(keys.sessions(username) + name);
  }

  list(username: string, page: PageRequest = {}): Promise<Page<SessionInfo>> {
    const amount = pageAmount(page);
    const now = this.#context.clock() / 1000;
    return takePage(
      this.#context.store.entries(keys.sessions(username), scanOf(page, amount)),
      amount,
      ({ name }) => name,
      ({ name, value }) => {
        const record = JSON.parse(value.toString()) as StoredSession;
        return record.expiresAt <= now ? undefined : { id: name, ...record };
      },
    );
  }

  async end(username: string, id: string, actor: AuthActor): Promise<void> {
    const known = await this.#context.store.text(keys.sessions(username) + id);
    if (known === undefined) throw new AuthError('not_found', 'session not found');
    await this.endToken(username, id, (JSON.parse(known) as StoredSession).expiresAt, actor);
  }

  /** Ends the session of a token, whether or not there is a record of it. */
  async endToken(username: string, id: string, expiresAt: number, actor: AuthActor): Promise<void> {
    const { store, changes } = this.#context;
    await store.setText(keys.endedSessions(username) + id, String(expiresAt));
    await store.delete(keys.sessions(username) + id);
    await changes.sessions(username);
    logChange(this.#context, actor, 'session ended', { user: username });
  }

  async endAll(username: string, actor: AuthActor): Promise<void> {
    await this.#endAll(username, actor);
    const { store } = this.#context;
    for (const id of await store.names(keys.sessions(username)))
      await store.delete(keys.sessions(username) + id);
  }

  /** The sessions that were ended before their time. */
  async ended(username: string): Promise<ReadonlySet<string>> {
    return new Set(await this.#context.store.names(keys.endedSessions(username)));
  }

  /** Forgets sessions whose tokens have expired, and logins that nobody has finished. */
  async trim(mayGoOn: () => Promise<boolean>): Promise<void> {
    const { store, clock } = this.#context;
    const now = clock() / 1000;
    const expired: string[] = [];
    for (const folder of [keys.allSessions, keys.cliLogins]) {
      for await (const { name, value } of store.entries(folder)) {
        const { expiresAt } = JSON.parse(value.toString()) as { readonly expiresAt: number };
        if (expiresAt <= now) expired.push(folder + name);
      }
    }
    for await (const { name, value } of store.entries(keys.allEndedSessions)) {
      if (Number(value.toString()) <= now) expired.push(keys.allEndedSessions + name);
    }
    for (const key of expired) {
      if (!(await mayGoOn())) return;
      await store.delete(key);
    }
  }
}
