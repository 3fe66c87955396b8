import type { Config, LogLevel } from '../config/index.ts';
import type { RootLogger } from '../logging/index.ts';
import type { ServerAddress, StartStep } from '../processes/messages.ts';
import type { Exchange } from '../processes/exchange.ts';

/** What a process is given to play its role. */
export interface RoleContext {
  readonly config: Config;
  readonly logger: RootLogger;
  readonly exchange: Exchange;
  /** Of access control; the primary process derives it for all. */
  readonly rootKey: Promise<Uint8Array>;
  /** Tells the primary process how far this one has come. */
  readonly reached: (step: StartStep) => void;
  /** Where to listen, known once it is time to; rejected when it will never be. */
  readonly listen: Promise<ServerAddress>;
  /** HTTP workers of this server. */
  readonly workers: number;
  readonly prepares: boolean;
  readonly worksAlone: boolean;
  readonly allowMismatchedRepositories: boolean;
  /** A preset is in use. */
  readonly trial: boolean;
}

/** A role being played. */
export interface RunningRole {
  readonly address?: ServerAddress | undefined;
  /** Answers the requests that wait, and all that come. */
  serve(): void;
  setLevel(level: LogLevel): void;
  reloadTls(): void;
  /** Finishes what is being done and closes everything that was opened. */
  stop(): Promise<void>;
}
