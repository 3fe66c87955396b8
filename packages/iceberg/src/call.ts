import type { Auth, ClientOrigin, Identity, Requirement } from '@svc/auth';
import type { Engine } from '@svc/engine';
import type { JsonObject } from './json.ts';

/** What every operation works with. */
export interface Services {
  readonly engine: Engine;
  readonly auth: Auth;
  /** Of the S3 gateway, for the clients that are sent there. */
  readonly region: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** One authenticated request. */
export interface Call {
  readonly services: Services;
  readonly identity: Identity;
  readonly client: ClientOrigin;
  /** What the prefix of the path stands for: nothing, a repository, or a repository and a ref. */
  readonly warehouse: readonly string[];
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Empty when the request has none. */
  readonly body: JsonObject;
  /** Where the client reaches this server, without a path. */
  readonly origin: string;
  ensure(requirement: Requirement): Promise<void>;
}

/** What reading a table takes. */
export type Reader = Pick<Call, 'ensure'> & { readonly services: Pick<Services, 'engine'> };

export interface Answer {
  readonly status: number;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}
