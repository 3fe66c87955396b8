import type { ObjectPointer } from '@svc/block';
import type { RepositoryScope } from '../../store/scope.ts';

/** Where the collector's own files lie. */
export class GcPlaces {
  readonly #scope: RepositoryScope;
  readonly base: string;

  constructor(scope: RepositoryScope) {
    this.#scope = scope;
    this.base = `${scope.committed.metadataPrefix}/retention/gc`;
  }

  /** Of a key below the namespace. */
  pointer(identifier: string): ObjectPointer {
    const { storageNamespace } = this.#scope.repository;
    return { storageNamespace, identifier, identifierType: 'relative' };
  }

  get owner(): string {
    return `${this.base}/svc/owner.json`;
  }

  get contested(): string {
    return `${this.base}/svc/contested.json`;
  }

  quarantine(run: string): string {
    return `${this.base}/svc/quarantine/${run}/part-00000.jsonl.gz`;
  }

  list(run: string, kind: 'plan' | 'kept' | 'failed' | 'condemned'): string {
    return `${this.base}/svc/${run}/${kind}.jsonl.gz`;
  }

  summary(run: string): string {
    return `${this.base}/unified/${run}/summary.json`;
  }

  deleted(run: string): string {
    return `${this.base}/unified/${run}/deleted/part-00000.parquet`;
  }

  deletedText(run: string): string {
    return `${this.base}/unified/${run}/deleted.text/part-00000`;
  }

  /** A key that lists and reports have, and nobody else's. */
  isOwnFile(key: string): boolean {
    return key.startsWith(`${this.base}/`);
  }
}
