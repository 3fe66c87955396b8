import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** Shorter ones are words that a log may well hold for other reasons. */
const shortestSecret = 8;

export interface NotedSecret {
  /** Where it comes from, so that a leak can be traced. */
  readonly what: string;
  readonly secret: string;
}

/** Every secret of one test run and every log that must not hold them, kept as files: many processes write them. */
export class SecretBook {
  readonly secrets: string;
  readonly logs: string;
  readonly #known = new Set<string>();

  constructor(runFolder: string) {
    this.secrets = join(runFolder, 'secrets');
    this.logs = join(runFolder, 'logs');
    mkdirSync(this.secrets, { recursive: true });
    mkdirSync(this.logs, { recursive: true });
  }

  note(what: string, secret: string): void {
    if (secret.length < shortestSecret || this.#known.has(secret)) return;
    this.#known.add(secret);
    const noted: NotedSecret = { what, secret };
    appendFileSync(join(this.secrets, `${process.pid}.jsonl`), `${JSON.stringify(noted)}\n`);
  }

  /** Appends to a log of that name. Synchronous, because test processes are ended without ceremony. */
  log(name: string, text: string | Buffer): void {
    appendFileSync(join(this.logs, name), text);
  }
}
