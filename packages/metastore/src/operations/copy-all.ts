import { MetastoreError } from '../metastore-error.ts';
import type { Metastore } from '../metastore.ts';
import { ensureDatabase } from './copy-database.ts';
import { copyTable, nameOf, type CopyOutcome, type CopyRequest } from './copy-table.ts';

export interface CopyAllRequest {
  readonly from: Metastore;
  readonly to: Metastore;
  readonly databases: string;
  readonly tables: string;
  readonly rewrite: Omit<CopyRequest['rewrite'], 'serde'>;
  /** Where schemas go that are in no object store. */
  readonly warehouse: string;
  readonly continueOnError: boolean;
  readonly dryRun: boolean;
  readonly report: CopyAllReport;
}

/** Told while it happens. */
export interface CopyAllReport {
  started(from: string, to: string): void;
  progress(done: CopyOutcome): void;
  finished(from: string, to: string, outcome: CopyOutcome): void;
  failed(what: string, error: MetastoreError): void;
}

export interface CopyAllOutcome {
  readonly copied: number;
  readonly failed: number;
}

/** Copies every matching table of every matching schema under its own name. */
export async function copyAll(request: CopyAllRequest): Promise<CopyAllOutcome> {
  const { from, to, report, dryRun } = request;
  let copied = 0;
  let failed = 0;
  const attempt = async (what: string, work: () => Promise<void>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof MetastoreError)) throw error;
      if (!request.continueOnError) {
        throw new MetastoreError(
          error.kind,
          `${what}: ${error.message}\n${copied} tables were copied before it.`,
        );
      }
      failed += 1;
      report.failed(what, error);
      return false;
    }
  };
  for (const database of (await from.listDatabases(request.databases)).toSorted()) {
    const target = to.kind === 'hive' ? database.replaceAll('-', '_') : database;
    const { relocate } = request.rewrite;
    const places = { from: { metastore: from, database }, to: { metastore: to, database: target } };
    let created = false;
    const isThere = await attempt(`schema ${database}`, async () => {
      created = (await ensureDatabase({ ...places, relocate, dryRun }, request.warehouse)) === 'created';
    });
    if (!isThere) continue;
    for (const table of (await from.listTables(database, request.tables)).toSorted()) {
      const source = { ...places.from, table };
      const copy = { ...places.to, table };
      report.started(nameOf(source), nameOf(copy));
      await attempt(`table ${nameOf(source)}`, async () => {
        const outcome = await copyTable({
          from: source,
          to: copy,
          rewrite: { ...request.rewrite, serde: table },
          dryRun,
          // A dry run has not made the schema that the table would be in.
          targetIsNew: dryRun && created,
          onProgress: (done) => {
            report.progress(done);
          },
        });
        copied += 1;
        report.finished(nameOf(source), nameOf(copy), outcome);
      });
    }
  }
  return { copied, failed };
}
