import { BlockError, type BlockAdapter } from '@svc/block';
import { EngineError } from '../errors.ts';
import { invalid, notFound } from './refusals.ts';

/**
 * Runs a call to the block store. A refusal that means something to the caller becomes the engine's; the others (the
 * store is away, full or misconfigured) pass as they are, like every error of the key-value store.
 */
export async function withBlockStore<T>(
  adapter: BlockAdapter,
  call: (adapter: BlockAdapter) => Promise<T>,
): Promise<T> {
  try {
    return await call(adapter);
  } catch (error) {
    throw fromBlockError(error);
  }
}

/** For calls that cannot be wrapped, such as walks. */
export function fromBlockError(error: unknown): unknown {
  if (!(error instanceof BlockError)) return error;
  const cause = { cause: error };
  switch (error.kind) {
    case 'not_found':
      return new EngineError('data_gone', 'No data', { ...cause, subject: 'object' });
    case 'forbidden':
      return new EngineError('forbidden', 'forbidden by the object store', { ...cause, subject: 'storage' });
    case 'not_supported':
      return new EngineError('not_supported', error.message, { ...cause, subject: 'storage' });
    case 'invalid_address':
    case 'invalid_namespace':
    case 'bad_index':
      return invalid(error.message, 'object');
    case 'invalid_part':
      return invalid(error.message, 'part');
    case 'part_too_small':
      return invalid(error.message, 'part_size');
    case 'upload_not_found':
      return notFound('upload');
    case 'already_exists':
    case 'async_copy_failed':
    case 'configuration':
    case 'unavailable':
    case 'write_failed':
    case 'no_space':
      return error;
  }
}
