import { CorruptTableError } from '@svc/sstable';
import { EngineError } from '../../errors.ts';
import type { Namespace } from './namespace.ts';

export type TableKind = 'range' | 'metarange';

/** A table whose bytes are not what was written, as reported by the code that found it. */
export interface TableDamage {
  readonly kind: TableKind;
  readonly id: string;
  readonly storageNamespace: string;
  readonly reason: string;
}

export function damageOf(
  namespace: Namespace,
  kind: TableKind,
  id: string,
  error: CorruptTableError,
): TableDamage {
  return { kind, id, storageNamespace: namespace.storageNamespace, reason: error.message };
}

/** What readers of a damaged table are thrown. */
export function damageError(namespace: Namespace, id: string, error: CorruptTableError): EngineError {
  return new EngineError(
    'corrupt',
    `metadata ${namespace.metadataPrefix}/${id} of ${namespace.storageNamespace} is damaged: ${error.message}`,
    { cause: error, subject: 'storage' },
  );
}

/** Whether reading failed for damage; the copy that was read is gone by then. */
export function isDamage(error: unknown): boolean {
  return error instanceof EngineError && error.kind === 'corrupt';
}

export function asEngineError(error: unknown): unknown {
  if (!(error instanceof CorruptTableError)) return error;
  return new EngineError('corrupt', error.message, { cause: error, subject: 'storage' });
}

/** Tells of damaged tables as the engine does. */
export async function translated<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw asEngineError(error);
  }
}
