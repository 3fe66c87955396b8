import type { ClientOrigin } from '../identity.ts';
import type { CredentialsWithSecret, KeyPair } from '../model.ts';

export interface Setup {
  state(): Promise<SetupState>;
  /** First administrator; throws `already_initialized` afterwards. Failures are limited per client address. */
  run(input: SetupInput, client?: ClientOrigin): Promise<CredentialsWithSecret>;
  setCommPrefs(prefs: CommPrefs): Promise<void>;
  /** One more administrator, for whoever holds the configuration. */
  createSuperuser(username: string, key?: KeyPair): Promise<CredentialsWithSecret>;
}

export interface SetupState {
  readonly initialized: boolean;
  readonly commPrefsMissing: boolean;
}

export interface SetupInput {
  readonly username: string;
  readonly key?: KeyPair | undefined;
  readonly commPrefs?: Partial<CommPrefs> | undefined;
}

export interface CommPrefs {
  readonly email?: string | undefined;
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  readonly companyName?: string | undefined;
  readonly featureUpdates: boolean;
  readonly securityUpdates: boolean;
}

export interface Installation {
  id(): Promise<string>;
  setupTimestamp(): Promise<Date | undefined>;
  metadata(): Promise<ReadonlyMap<string, string>>;
}
