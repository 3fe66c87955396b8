import type { Config } from '../config/config.ts';
import type { FileRules } from './entry.ts';

export function fileRules(config: Config): FileRules {
  return {
    skipNonRegularFiles: config.get('local.skip_non_regular_files'),
    symlinkSupport: config.get('local.symlink_support'),
    verifyChecksum: config.get('local.verify_checksum'),
    posix: config.get('experimental.local.posix_permissions.enabled') && process.platform !== 'win32',
    includeUid: config.get('experimental.local.posix_permissions.include_uid'),
    includeGid: config.get('experimental.local.posix_permissions.include_gid'),
  };
}
