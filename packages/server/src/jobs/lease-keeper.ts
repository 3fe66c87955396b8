import type { HeldLease, Lease } from '@svc/kv';
import type { Logger } from '../logging/index.ts';

/** Work that goes on exactly as long as the lease is held. */
export interface Tenant {
  start(held: HeldLease): void;
  /** The lease is lost: no new round may begin. A round under way notices when it asks. */
  stop(): void;
}

interface LeaseKeeperOptions {
  readonly name: string;
  readonly lease: Lease;
  readonly logger: Pick<Logger, 'debug' | 'info' | 'warn'>;
}

/** Takes a lease as soon as it is free, keeps it while this process lives, and tells its tenants. */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  readonly #tenants: Tenant[] = [];
  readonly #timer: NodeJS.Timeout;
  #held: HeldLease | undefined;
  #looking: Promise<void>;
  #isClosed = false;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    // Two renewals may be missed before the term ends.
    this.#timer = setInterval(() => void this.look(), options.lease.termMs / 3).unref();
    this.#looking = this.#look();
  }

  add(tenant: Tenant): void {
    this.#tenants.push(tenant);
    if (this.#held !== undefined) tenant.start(this.#held);
  }

  /** Renews the lease, or tries to get it. */
  look(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#look());
    return this.#looking;
  }

  async #look(): Promise<void> {
    if (this.#isClosed) return;
    const { name, lease, logger } = this.#options;
    try {
      if (this.#held !== undefined) {
        if (await this.#held.renew()) return;
        logger.warn({ lease: name }, 'another server has taken over: this one was silent for too long');
        this.#held = undefined;
        for (const tenant of this.#tenants) tenant.stop();
      }
      this.#held = await lease.acquire();
      if (this.#held === undefined) return;
      logger.debug({ lease: name }, 'this server runs the jobs of the lease');
      for (const tenant of this.#tenants) tenant.start(this.#held);
    } catch (error) {
      logger.warn({ error, lease: name }, 'the lease could not be looked after; trying again');
    }
  }

  /** Stops renewing. Call `release` once the tenants have finished. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#looking;
  }

  async release(): Promise<void> {
    try {
      await this.#held?.release();
    } catch (error) {
      const { name, logger } = this.#options;
      logger.warn({ error, lease: name }, 'the lease was not given back; it ends by itself');
    }
  }
}
