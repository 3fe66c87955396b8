import { EngineError } from '@svc/engine';
import { S3Error } from '../errors/s3-error.ts';
import { toS3Error } from '../errors/to-s3-error.ts';

const missing: ReadonlySet<string> = new Set(['NoSuchKey', 'NoSuchVersion']);

/** Runs a copy whose destination was already checked: whatever is missing now is the source. */
export async function copying<T>(copy: () => Promise<T>): Promise<T> {
  try {
    return await copy();
  } catch (error) {
    if (error instanceof S3Error) throw error;
    const known = toS3Error(error, 'read');
    if (missing.has(known.code)) throw new S3Error('NoSuchKey', undefined, { cause: error });
    if (known.code !== 'InternalError') throw known;
    // The cause is told, but never an address or a path of the store.
    throw new S3Error('InvalidRequest', error instanceof EngineError ? error.message : 'The copy failed.', {
      cause: error,
    });
  }
}
