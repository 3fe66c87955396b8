import type { Config, LogLevel } from '../config/index.ts';

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/** What a process is there for: `http` workers serve requests, the `background` one does everything else. */
export type Role = 'http' | 'background';

/** Questions one process asks all others; each answers once. */
export type Question = 'invalidate' | 'metrics' | 'flush-usage' | 'alerts' | 'long-task' | 'follow-events';

/** What one process tells those of a role, who do not answer. It may be lost: whoever listens also looks for itself. */
export type News =
  | 'hooks-queued'
  | 'outbox-filled'
  | 'events-appended'
  | 'subscriptions-changed'
  | 'difference-found';

export interface StartMessage {
  readonly type: 'start';
  readonly role: Role;
  readonly config: Config;
  /** HTTP workers of this server: limits are divided among them. */
  readonly workers: number;
  /** This worker alone checks the stores and sets up the installation, before anyone listens. */
  readonly prepares: boolean;
  /** There is no other process, so this one also does the background work. */
  readonly worksAlone: boolean;
  readonly allowMismatchedRepositories: boolean;
  /** A preset is in use: whoever started it knows that its secrets are public. */
  readonly trial: boolean;
}

export type ToWorker =
  | StartMessage
  /** In base64. Comes after the start, which need not wait for it. */
  | { readonly type: 'root-key'; readonly key: string }
  /** Where to listen: as configured, with the port that the first worker was given. */
  | { readonly type: 'listen'; readonly address: ServerAddress }
  /** Every worker listens: whoever is told that the server is there finds them all. */
  | { readonly type: 'serve' }
  | { readonly type: 'asked'; readonly seq: number; readonly question: Question; readonly payload: unknown }
  | { readonly type: 'answers'; readonly id: number; readonly values: readonly unknown[] }
  | { readonly type: 'told'; readonly news: News; readonly payload: unknown }
  | { readonly type: 'level'; readonly level: LogLevel }
  | { readonly type: 'reload-tls' }
  | { readonly type: 'stop' };

/**
 * How far a worker has come before it listens. `prepared`: the key-value store is there and of this version, the others
 * may open it. `opened`: everything is open, checked and warm.
 */
export type StartStep = 'prepared' | 'opened';

export type ToPrimary =
  | { readonly type: 'reached'; readonly step: StartStep }
  /** An HTTP worker listens by now, and serves when it is told to. */
  | { readonly type: 'ready'; readonly address: ServerAddress | undefined }
  /** A sentence for the operator; the server cannot start. */
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'ask'; readonly id: number; readonly question: Question; readonly payload: unknown }
  | { readonly type: 'answer'; readonly seq: number; readonly value: unknown }
  | { readonly type: 'tell'; readonly to: Role; readonly news: News; readonly payload: unknown }
  /** The metrics of the sender, to be remembered should it die. */
  | { readonly type: 'metrics'; readonly snapshot: unknown };
