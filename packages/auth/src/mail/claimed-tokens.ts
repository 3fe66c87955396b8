import { tokenMessage } from '@svc/encoding';
import type { AuthStore } from '../store/auth-store.ts';
import { keys } from '../store/keys.ts';

/** Tokens that are good once: which were used. */
export class ClaimedTokens {
  readonly #store: AuthStore;
  readonly #clock: () => number;

  constructor(store: AuthStore, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
  }

  /** False when the token was used before. Forgets those that have ended. */
  readonly claim = async (tokenId: string, expiresAt: number): Promise<boolean> => {
    const store = this.#store;
    for (const id of await store.names(keys.expiredTokens)) {
      const used = await store.get(tokenMessage, keys.expiredTokens + id);
      if (used !== undefined && (used.expiredAt?.seconds ?? 0) * 1000 < this.#clock())
        await store.delete(keys.expiredTokens + id);
    }
    const record = { tokenId, expiredAt: { seconds: expiresAt, nanos: 0 } };
    return store.create(tokenMessage, keys.expiredTokens + tokenId, record);
  };
}
