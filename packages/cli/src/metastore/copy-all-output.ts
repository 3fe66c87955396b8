import type { CopyAllReport, CopyOutcome, MetastoreError } from '@svc/metastore';
import type { Output } from '../output/output.ts';
import { CopyProgress } from './copy-progress.ts';
import { outcomeText } from './copy-text.ts';

/** Lines as tables are copied, or one JSON document at the end. */
export class CopyAllOutput implements CopyAllReport {
  readonly #out: Output;
  readonly #progress: CopyProgress;
  readonly #dryRun: boolean;
  readonly #tables: object[] = [];
  readonly #errors: object[] = [];

  constructor(out: Output, progress: boolean, dryRun: boolean) {
    this.#out = out;
    this.#progress = new CopyProgress(progress);
    this.#dryRun = dryRun;
  }

  started(from: string, to: string): void {
    this.#out.info(`table ${from} -> ${to}`);
  }

  progress(done: CopyOutcome): void {
    this.#progress.show(done);
  }

  finished(from: string, to: string, outcome: CopyOutcome): void {
    this.#progress.clear();
    this.#tables.push({ from, to, ...outcome });
    this.#out.info(outcomeText(outcome, this.#dryRun));
  }

  failed(what: string, error: MetastoreError): void {
    this.#progress.clear();
    this.#errors.push({ what, message: error.message });
    this.#out.errorLine(`${what}: ${error.message}`);
  }

  end(copied: number, failed: number): void {
    if (this.#out.json) {
      this.#out.document({ tables: this.#tables, errors: this.#errors, dry_run: this.#dryRun });
    } else this.#out.line(`${copied} copied, ${failed} failed`);
  }
}
