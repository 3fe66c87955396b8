import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import {
  AndFilter,
  Client,
  EqualityFilter,
  FilterParser,
  InvalidCredentialsError,
  SizeLimitExceededError,
  type Filter,
} from 'ldapts';
import { AuthError } from '../errors.ts';
import type { PasswordAttempt, PasswordAuthenticator } from './contract.ts';

export interface LdapSettings {
  /** `ldap://` or `ldaps://`. */
  readonly serverEndpoint: string;
  readonly bindDn: string;
  readonly bindPassword: string;
  readonly usernameAttribute: string;
  readonly userBaseDn: string;
  /** Another condition for users; empty for none. */
  readonly userFilter: string;
  readonly defaultGroup: string;
  /** Encrypt `ldap://` before anything is said. */
  readonly startTls: boolean;
  /** Certificates to trust in place of the system's, as PEM. */
  readonly ca?: string | undefined;
}

const connectMs = 15_000;
const requestMs = 7000;

/** A directory: the service finds the person's entry, then the person's own password opens it. */
export class LdapAuthenticator implements PasswordAuthenticator {
  readonly source = 'ldap';
  readonly defaultGroup: string;
  readonly #settings: LdapSettings;
  readonly #tls: ConnectionOptions;
  readonly #userFilter: Filter | undefined;
  /** Bound as the service, for searches. */
  #control: Promise<Client> | undefined;

  constructor(settings: LdapSettings) {
    this.#settings = settings;
    this.defaultGroup = settings.defaultGroup;
    this.#userFilter = parseFilter(settings.userFilter);
    const host = new URL(settings.serverEndpoint).hostname.replace(/^\[(.*)\]$/, '$1');
    this.#tls = {
      ...(isIP(host) === 0 ? { servername: host } : { host }),
      ...(settings.ca !== undefined && { ca: settings.ca }),
    };
  }

  async authenticate({ username, password }: PasswordAttempt): Promise<{ userId: string } | undefined> {
    // A directory takes a name without password for a visitor, and lets it in.
    if (username === '' || password === '') return undefined;
    const dn = await this.#find(username);
    if (dn === undefined) return undefined;
    const client = await this.#connect();
    try {
      await client.bind(dn, password);
      return { userId: dn };
    } catch (error) {
      if (error instanceof InvalidCredentialsError) return undefined;
      throw error;
    } finally {
      end(client);
    }
  }

  close(): void {
    const control = this.#control;
    this.#control = undefined;
    control?.then(end, () => undefined);
  }

  /** The name of the one entry; undefined when there is none, or several. */
  async #find(username: string): Promise<string | undefined> {
    const { userBaseDn, usernameAttribute } = this.#settings;
    // As a value, never as text of a filter: nothing in a name has a meaning.
    const name = new EqualityFilter({ attribute: usernameAttribute, value: username });
    const filter =
      this.#userFilter === undefined ? name : new AndFilter({ filters: [name, this.#userFilter] });
    // No limit of ours: with one the library keeps quiet about that of the directory, and a name that several share
    // looks like that of one.
    const search = async (control: Client) => {
      try {
        return (await control.search(userBaseDn, { scope: 'sub', filter, attributes: [usernameAttribute] }))
          .searchEntries;
      } catch (error) {
        if (error instanceof SizeLimitExceededError) return [];
        throw error;
      }
    };
    const [entry, ...others] = await this.#withControl(search);
    return entry === undefined || others.length > 0 ? undefined : entry.dn;
  }

  /** Directories close connections that rest: a search that fails is tried once more on a new one. */
  async #withControl<T>(search: (control: Client) => Promise<T>): Promise<T> {
    const isNew = this.#control === undefined;
    const control = await this.#bound();
    try {
      return await search(control);
    } catch (error) {
      this.close();
      if (isNew) throw error;
      return search(await this.#bound());
    }
  }

  async #bound(): Promise<Client> {
    // After a loss the library connects again without a bind, and would search as a stranger.
    if (this.#control !== undefined && (await this.#control.catch(() => undefined))?.isBound !== true) {
      this.close();
    }
    const { bindDn, bindPassword } = this.#settings;
    this.#control ??= this.#connect().then(async (client) => {
      try {
        await client.bind(bindDn, bindPassword);
        return client;
      } catch (error) {
        end(client);
        throw error;
      }
    });
    return this.#control;
  }

  async #connect(): Promise<Client> {
    const { serverEndpoint, startTls } = this.#settings;
    const client = new Client({
      url: serverEndpoint,
      connectTimeout: connectMs,
      timeout: requestMs,
      ...(serverEndpoint.startsWith('ldaps:') && { tlsOptions: this.#tls }),
    });
    if (!startTls) return client;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error('StartTLS took too long')), connectMs);
    });
    try {
      await Promise.race([client.startTLS({ ...this.#tls }), late]);
      return client;
    } catch (error) {
      end(client);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}

function parseFilter(text: string): Filter | undefined {
  if (text === '') return undefined;
  try {
    return FilterParser.parseString(text.startsWith('(') ? text : `(${text})`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new AuthError('configuration', `auth.ldap.user_filter: ${reason}`);
  }
}

/** Nobody waits for the goodbye. */
function end(client: Client): void {
  client.unbind().catch(() => undefined);
}
