import type { Config, LogLevel } from '../config/index.ts';
import type { RootLogger } from '../logging/index.ts';
import type { ServerAddress } from '../processes/messages.ts';
import type { Exchange } from '../processes/exchange.ts';

/** What a process is given to play its role. */
export interface RoleContext {
  readonly config: Config;
  readonly listen: ServerAddress;
  readonly logger: RootLogger;
  readonly exchange: Exchange;
  /** Of access control; the primary process derives it for all. */
  readonly rootKey: Promise<Uint8Array>;
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
  setLevel(level: LogLevel): void;
  reloadTls(): void;
  /** Finishes what is being done and closes everything that was opened. */
  stop(): Promise<void>;
}
