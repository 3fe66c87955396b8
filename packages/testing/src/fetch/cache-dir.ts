import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where test servers and foreign clients are kept between runs and clones. */
export function cacheDir(): string {
  const base = process.env['XDG_CACHE_HOME'];
  return join(base !== undefined && base !== '' ? base : join(homedir(), '.cache'), 'svc');
}
