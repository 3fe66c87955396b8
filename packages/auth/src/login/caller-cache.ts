import type { CacheBus } from '@svc/kv';
import type { CacheSettings } from '../auth.ts';
import { sha256 } from '../crypto/digest.ts';
import { AuthError } from '../errors.ts';
import type { Credentials, ExternalPrincipal, Policy, User } from '../model.ts';
import { anonymous } from '../policy/anonymous.ts';
import { CompiledPolicies } from '../policy/compiled-policies.ts';
import type { Changes } from '../rbac/context.ts';
import { LoadingCache } from '../store/loading-cache.ts';

export interface KnownKey extends Credentials {
  readonly secretAccessKey: string;
  readonly secretDigest: Buffer;
}

/** Where the caches load from. */
export interface CallerSources {
  readonly user: (username: string) => Promise<User | undefined>;
  readonly userByEmail: (
    email: string,
  ) => Promise<{ user: User; passwordHash: string | undefined } | undefined>;
  readonly key: (
    accessKeyId: string,
  ) => Promise<(Credentials & { readonly secretAccessKey: string }) | undefined>;
  readonly policies: (username: string) => Promise<readonly Policy[]>;
  readonly allPolicies: () => Promise<readonly Policy[]>;
  readonly externalPrincipal: (id: string) => Promise<ExternalPrincipal | undefined>;
  readonly endedSessions: (username: string) => Promise<ReadonlySet<string>>;
}

const topics = {
  user: 'auth.user',
  key: 'auth.credential',
  policies: 'auth.policies',
  externalPrincipal: 'auth.external-principal',
  sessions: 'auth.sessions',
} as const;
type Topic = (typeof topics)[keyof typeof topics];

/** Stands for everybody in the topic of policies; no user has an empty name. */
const everybody = '';
/** Stands for all in the topic of keys; none has an empty id. */
const everyKey = '';
/** The one key of what concerns nobody in particular. */
const nobody = '';

/** What requests need to know of callers, kept in memory and dropped on every worker when it changes. */
export class CallerCache {
  readonly changes: Changes = {
    user: (username) => this.#announce(topics.user, username),
    credential: (accessKeyId = everyKey) => this.#announce(topics.key, accessKeyId),
    policies: (username = everybody) => this.#announce(topics.policies, username),
    externalPrincipal: (id) => this.#announce(topics.externalPrincipal, id),
    sessions: (username) => this.#announce(topics.sessions, username),
  };

  readonly #bus: CacheBus;
  readonly #sources: CallerSources;
  readonly #users: LoadingCache<User>;
  readonly #keys: LoadingCache<KnownKey>;
  readonly #policies: LoadingCache<CompiledPolicies>;
  readonly #anonymous: LoadingCache<CompiledPolicies>;
  readonly #externalPrincipals: LoadingCache<ExternalPrincipal>;
  readonly #endedSessions: LoadingCache<ReadonlySet<string>>;
  readonly #drops: Readonly<Record<Topic, (key: string) => void>>;
  readonly #subscriptions: readonly (() => void)[];

  constructor(bus: CacheBus, settings: CacheSettings, clock: () => number, sources: CallerSources) {
    this.#bus = bus;
    this.#sources = sources;
    this.#users = new LoadingCache(settings, clock, sources.user);
    this.#keys = new LoadingCache(settings, clock, async (accessKeyId) => {
      const key = await sources.key(accessKeyId);
      return key === undefined ? undefined : { ...key, secretDigest: sha256(key.secretAccessKey) };
    });
    this.#policies = new LoadingCache(
      settings,
      clock,
      async (username) => new CompiledPolicies(username, await sources.policies(username)),
    );
    this.#anonymous = new LoadingCache(
      settings,
      clock,
      async () => new CompiledPolicies(anonymous, await sources.allPolicies()),
    );
    this.#externalPrincipals = new LoadingCache(settings, clock, sources.externalPrincipal);
    this.#endedSessions = new LoadingCache(settings, clock, sources.endedSessions);
    this.#drops = {
      [topics.user]: (username) => this.#users.drop(username),
      [topics.key]: (accessKeyId) => {
        if (accessKeyId === everyKey) this.#keys.clear();
        else this.#keys.drop(accessKeyId);
      },
      [topics.policies]: (username) => {
        if (username !== everybody) return this.#policies.drop(username);
        this.#policies.clear();
        this.#anonymous.clear();
      },
      [topics.externalPrincipal]: (id) => this.#externalPrincipals.drop(id),
      [topics.sessions]: (username) => this.#endedSessions.drop(username),
    };
    this.#subscriptions = Object.entries(this.#drops).map(([topic, drop]) => bus.subscribe(topic, drop));
  }

  user(username: string): Promise<User | undefined> {
    return this.#users.get(username);
  }

  userByEmail(email: string): Promise<{ user: User; passwordHash: string | undefined } | undefined> {
    return this.#sources.userByEmail(email);
  }

  key(accessKeyId: string): Promise<KnownKey | undefined> {
    return accessKeyId === '' ? Promise.resolve(undefined) : this.#keys.get(accessKeyId);
  }

  /** In memory already: the usual case, answered without waiting. */
  userAtOnce(username: string): User | undefined {
    return this.#users.getAtOnce(username);
  }

  keyAtOnce(accessKeyId: string): KnownKey | undefined {
    return this.#keys.getAtOnce(accessKeyId);
  }

  policiesOfAtOnce(username: string): CompiledPolicies | undefined {
    return this.#policies.getAtOnce(username);
  }

  async policiesOf(username: string): Promise<CompiledPolicies> {
    return loaded(await this.#policies.get(username));
  }

  anonymousAtOnce(): CompiledPolicies | undefined {
    return this.#anonymous.getAtOnce(nobody);
  }

  async anonymous(): Promise<CompiledPolicies> {
    return loaded(await this.#anonymous.get(nobody));
  }

  externalPrincipal(id: string): Promise<ExternalPrincipal | undefined> {
    return this.#externalPrincipals.get(id);
  }

  async hasEnded(username: string, sessionId: string): Promise<boolean> {
    return (await this.#endedSessions.get(username))?.has(sessionId) === true;
  }

  close(): void {
    for (const unsubscribe of this.#subscriptions) unsubscribe();
  }

  /** Resolves once no worker of this server holds the old copy. */
  async #announce(topic: Topic, key: string): Promise<void> {
    this.#drops[topic](key);
    await this.#bus.publish(topic, key);
  }
}

function loaded(policies: CompiledPolicies | undefined): CompiledPolicies {
  if (policies === undefined) throw new AuthError('unavailable', 'internal server error');
  return policies;
}
