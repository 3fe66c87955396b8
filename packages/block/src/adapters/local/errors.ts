import { BlockError } from '../../errors.ts';

export function errorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

/** Another file system, or one that has no links or no more of them. */
const linkless = new Set(['EXDEV', 'EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK']);

/** Whether a file cannot get a second name here, so that it has to be copied. */
export function isLinkless(error: unknown): boolean {
  return linkless.has(errorCode(error) ?? '');
}

/** What a failed file operation of a read means to the caller. */
export function readError(error: unknown, path: string): unknown {
  const code = errorCode(error);
  switch (code) {
    case undefined:
      return error;
    case 'ENOENT':
    case 'ENOTDIR':
    case 'EISDIR':
    case 'ENXIO':
      return notFound(path);
    case 'ENAMETOOLONG':
      return new BlockError('invalid_address', `the path "${path}" is too long for the file system`);
    case 'EACCES':
    case 'EPERM':
      return new BlockError('forbidden', `no permission to read "${path}"`, { cause: error });
    case 'EIO':
      return new BlockError('unavailable', `reading "${path}" failed: input/output error`, { cause: error });
    case 'EMFILE':
    case 'ENFILE':
      return new BlockError('unavailable', 'too many open files: raise the limit (ulimit -n)', {
        cause: error,
      });
    default:
      return error;
  }
}

export function notFound(path: string): BlockError {
  return new BlockError('not_found', `no object at "${path}"`);
}

/** What a failed file operation of a write means to the caller. */
export function writeError(error: unknown, path: string): unknown {
  const code = errorCode(error);
  switch (code) {
    case undefined:
    case 'ABORT_ERR':
      return error;
    case 'EEXIST':
      return new BlockError('already_exists', `an object already exists at "${path}"`);
    case 'ENAMETOOLONG':
      return new BlockError('invalid_address', `the path "${path}" is too long for the file system`);
    case 'EISDIR':
    case 'ENOTDIR':
    case 'ENOTEMPTY':
      return new BlockError(
        'invalid_address',
        `"${path}" cannot be an object here: an object and a folder would have the same name`,
      );
    case 'EMFILE':
    case 'ENFILE':
      return new BlockError('unavailable', 'too many open files: raise the limit (ulimit -n)', {
        cause: error,
      });
    case 'ENOSPC':
    case 'EDQUOT':
      return new BlockError('no_space', `no space left to write "${path}"; free some space and try again`, {
        cause: error,
      });
    default:
      return code.startsWith('E') && !code.startsWith('ERR_')
        ? new BlockError('write_failed', `writing "${path}" failed: ${code}`, { cause: error })
        : error;
  }
}
