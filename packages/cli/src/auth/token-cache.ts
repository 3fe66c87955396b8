import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

export interface CachedToken {
  readonly token: string;
  /** Unix seconds. */
  readonly expiration_time: number;
  /** The API that issued it: no other server may see it. */
  readonly endpoint?: string | undefined;
}

function cacheFile(): string {
  return join(homedir(), '.svcctl', 'cache', 'svcctl_token_cache.json');
}

/** The token for a server, expired or not. */
export function readTokenCache(apiUrl: string): CachedToken | undefined {
  const found = readFile();
  return found?.endpoint === undefined || found.endpoint === apiUrl ? found : undefined;
}

function readFile(): CachedToken | undefined {
  try {
    const found = JSON.parse(readFileSync(cacheFile(), 'utf8')) as Partial<CachedToken>;
    if (typeof found.token !== 'string' || typeof found.expiration_time !== 'number') return undefined;
    const endpoint = typeof found.endpoint === 'string' ? found.endpoint : undefined;
    return { token: found.token, expiration_time: found.expiration_time, endpoint };
  } catch {
    // A missing or damaged cache only means a new token.
    return undefined;
  }
}

export function writeTokenCache(token: CachedToken): void {
  const file = cacheFile();
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // Most commands find a token and need no cryptography.
  const fresh = `${file}.${process.getBuiltinModule('node:crypto').randomBytes(6).toString('hex')}`;
  writeFileSync(fresh, JSON.stringify(token), { mode: 0o600 });
  renameSync(fresh, file);
}

export function removeTokenCache(): void {
  rmSync(cacheFile(), { force: true });
}
