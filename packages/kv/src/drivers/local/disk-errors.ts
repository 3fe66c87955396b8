import { KvError, type KvErrorKind } from '../../errors.ts';

/** Says what happened to the folder and what to do, whatever words the layers below used. */
export function diskError(kind: KvErrorKind, path: string, cause: unknown): KvError {
  if (cause instanceof KvError) return cause;
  const text = cause instanceof Error ? cause.message : String(cause);
  const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? '';
  const said = isFull(code, text) && kind === 'unavailable' ? 'no_space' : kind;
  return new KvError(said, `key-value store ${path}: ${advice(code, text)}`, { cause });
}

function isFull(code: string, text: string): boolean {
  return code === 'ENOSPC' || code === 'EDQUOT' || /no space left|MDB_MAP_FULL|file too large/i.test(text);
}

function advice(code: string, text: string): string {
  if (isFull(code, text)) {
    return 'the disk is full and nothing was written; free some space and try again';
  }
  if (/input\/output error/i.test(text)) {
    return 'the disk is full or failing and nothing was written; free some space or look at the system log';
  }
  if (code === 'EROFS' || /read-only file system/i.test(text)) {
    return 'the file system is read-only; mount it writable or set database.local.path to another folder';
  }
  if (code === 'EACCES' || code === 'EPERM' || /permission denied|not permitted/i.test(text)) {
    return (
      'the folder is not writable for this user; change its owner or mode, ' +
      'or set database.local.path to another folder'
    );
  }
  if (code === 'ENOTDIR' || code === 'EEXIST') {
    return 'the path is a file, not a folder; set database.local.path to a folder';
  }
  if (/MDB_INVALID|MDB_CORRUPTED|MDB_VERSION_MISMATCH/.test(text)) {
    return `the files are not a usable store (${text}); restore them from a backup or choose an empty folder`;
  }
  return text;
}
