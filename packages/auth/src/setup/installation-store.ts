import { randomUUID } from 'node:crypto';
import type { KeyRing } from '../crypto/key-ring.ts';
import { openSecret, sealSecret } from '../crypto/secret-box.ts';
import { AuthError } from '../errors.ts';
import type { AuthStore } from '../store/auth-store.ts';
import { keys } from '../store/keys.ts';
import type { Installation } from './contract.ts';

const secretCheck = 'secret_check';
const secretCheckText = 'this installation';
/** Internal entries, not facts about the installation. */
const hidden: ReadonlySet<string> = new Set([secretCheck, 'setup_claim']);

/** What the store knows about itself: its id, when it was set up, and which secret key it belongs to. */
export class InstallationStore implements Installation {
  readonly #store: AuthStore;
  readonly #keys: KeyRing;
  readonly #fixedId: string | undefined;
  #id: string | undefined;

  constructor(store: AuthStore, keyRing: KeyRing, fixedId?: string) {
    this.#store = store;
    this.#keys = keyRing;
    this.#fixedId = fixedId === '' ? undefined : fixedId;
  }

  async id(): Promise<string> {
    if (this.#fixedId !== undefined) return this.#fixedId;
    while (this.#id === undefined) {
      this.#id = await this.#store.text(keys.installationId);
      if (this.#id === undefined) await this.#store.setTextIf(keys.installationId, randomUUID(), 'absent');
    }
    return this.#id;
  }

  async setupTimestamp(): Promise<Date | undefined> {
    const text = await this.#store.text(keys.metadata('setup_timestamp'));
    return text === undefined ? undefined : new Date(text);
  }

  async metadata(): Promise<ReadonlyMap<string, string>> {
    const metadata = new Map<string, string>();
    for await (const { name, value } of this.#store.entries(keys.installationMetadata)) {
      if (!hidden.has(name)) metadata.set(name, value.toString());
    }
    return metadata;
  }

  /**
   * Throws `configuration` when secrets in this store were encrypted with another key. Before the setup there
   * are none, so the key may still be changed; `isSetUp` says that there is no setup to wait for.
   */
  async checkSecretKey({ isSetUp = false } = {}): Promise<void> {
    const key = keys.metadata(secretCheck);
    for (;;) {
      const stored = await this.#store.textStored(key);
      if (stored !== undefined && this.#opens(stored.record)) return;
      if (stored !== undefined && (isSetUp || (await this.setupTimestamp()) !== undefined)) {
        throw new AuthError('configuration', 'auth.encrypt.secret_key does not match this installation');
      }
      const sealed = sealSecret(this.#keys, secretCheckText, secretCheck).toString('base64');
      await this.#store.setTextIf(key, sealed, stored?.predicate ?? 'absent');
    }
  }

  #opens(sealed: string): boolean {
    return openSecret(this.#keys, Buffer.from(sealed, 'base64'), secretCheck) === secretCheckText;
  }
}
