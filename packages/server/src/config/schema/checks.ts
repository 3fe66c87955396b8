import { isAbsolute, normalize } from 'node:path';
import { networkProblem } from '@svc/outgoing/networks';
import { isDurationText } from '../duration.ts';

export function checkListenAddress(value: string): string | undefined {
  const match = /^(\[[^\]]*\]|[^:[\]]*):(\d{1,5})$/.exec(value);
  if (match?.[2] === undefined || Number(match[2]) > 65_535) {
    return 'must be host:port with a port from 0 to 65535, such as 0.0.0.0:8000 or [::1]:8000';
  }
  return undefined;
}

export function checkUrl(value: string): string | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return 'must be a URL starting with http:// or https://';
  }
  return undefined;
}

export function checkLdapUrl(value: string): string | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || (url.protocol !== 'ldap:' && url.protocol !== 'ldaps:') || url.hostname === '') {
    return 'must be a URL such as ldaps://ldap.example.com:636';
  }
  return undefined;
}

export function checkPostgres(value: string): string | undefined {
  if (/^postgres(ql)?:\/\//.test(value)) {
    return URL.canParse(value.replace(/^[a-z]+:/, 'http:')) || value.includes('@/') || value.includes(',')
      ? undefined
      : 'must be a PostgreSQL URL such as postgres://user:password@host:5432/database';
  }
  if (/^\s*(\w+\s*=\s*('([^'\\]|\\.)*'|[^\s']*)\s*)+$/.test(value)) return undefined;
  return 'must be a PostgreSQL URL (postgres://…) or a connection string (host=… dbname=…)';
}

export function checkAbsolutePaths(values: readonly string[]): string | undefined {
  for (const value of values) {
    const clean = normalize(value);
    if (!isAbsolute(value) || (clean !== value && clean !== `${value}/`)) {
      return `must be absolute paths without "..", "//" or a trailing "/"; "${value}" is not`;
    }
    if (value.length > 1 && value.endsWith('/')) {
      return `must be absolute paths without "..", "//" or a trailing "/"; "${value}" is not`;
    }
  }
  return undefined;
}

export function checkRelativePath(value: string): string | undefined {
  if (value.startsWith('/') || value.split('/').some((segment) => segment === '' || segment === '..')) {
    return 'must be a relative path such as _svc';
  }
  return undefined;
}

export function checkNetworks(values: readonly string[]): string | undefined {
  const problem = values.map(networkProblem).find((found) => found !== undefined);
  return problem === undefined ? undefined : `must be a list of networks: ${problem}`;
}

export function checkDuration(value: string): string | undefined {
  return isDurationText(value) && !value.startsWith('-')
    ? undefined
    : 'must be a duration such as 90s or 1h30m';
}
