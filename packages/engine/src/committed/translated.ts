import { CorruptTableError } from '@svc/sstable';
import { EngineError } from '../errors.ts';

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
