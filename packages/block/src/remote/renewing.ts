import { BlockError } from '../errors.ts';

/** Credentials are renewed this long before they end, so that no request is sent with dying ones. */
const renewBeforeMs = 5 * 60 * 1000;

/** Keeps credentials until shortly before they end; concurrent askers share one renewal. */
export class Renewing<T extends { readonly expiration?: Date | undefined }> {
  readonly #source: () => Promise<T>;
  readonly #renewBeforeMs: number;
  #current: T | undefined;
  #renewing: Promise<T> | undefined;

  constructor(source: () => Promise<T>, before: number = renewBeforeMs) {
    this.#source = source;
    this.#renewBeforeMs = before;
  }

  get(): T | Promise<T> {
    const current = this.#current;
    if (current === undefined) return this.#renew();
    const end = current.expiration?.getTime();
    if (end === undefined || end - Date.now() > this.#renewBeforeMs) return current;
    // Close to the end, a source that has nothing newer may still answer with the same ones.
    return this.#renew();
  }

  /** The store said they are no longer good. */
  forget(): void {
    this.#current = undefined;
  }

  #renew(): Promise<T> {
    this.#renewing ??= this.#source()
      .then(
        (credentials) => (this.#current = credentials),
        (error: unknown) => {
          if (error instanceof BlockError) throw error;
          throw new BlockError(
            'unavailable',
            `no credentials for the object store: ${(error as Error).message}`,
            { cause: error },
          );
        },
      )
      .finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }
}
