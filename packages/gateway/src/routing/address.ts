import { isUtf8 } from 'node:buffer';
import { sigV4Decode } from '@svc/encoding';
import { S3Error } from '../errors/s3-error.ts';
import type { GatewayDomains } from './domains.ts';

/** Where a request points: nothing, a repository, or a repository, a ref and a path. */
export interface Address {
  /** Undefined for the service itself (`/`). */
  readonly repository: string | undefined;
  /** Undefined when only a repository is named. */
  readonly ref: string | undefined;
  readonly path: string;
  /** `/r/main/` rather than `/r/main`. */
  readonly slashAfterRef: boolean;
  readonly virtualHost: boolean;
}

const needsDecoding = /[%\u0080-\u00ff]/;

/** Splits host and raw path. Every `/` after the ref belongs to the path; nothing is normalised. */
export function addressOf(rawPath: string, host: string, domains: GatewayDomains): Address {
  const target = rawPath.startsWith('/') ? rawPath.slice(1) : rawPath;
  const decoded = needsDecoding.test(target) ? decodeUtf8(target) : target;
  const hosted = domains.repositoryOf(host);
  if (hosted !== undefined) return { repository: hosted, virtualHost: true, ...refAndPath(decoded) };
  if (decoded === '') return { repository: undefined, virtualHost: false, ...refAndPath('') };
  const slash = decoded.indexOf('/');
  return {
    repository: slash < 0 ? decoded : decoded.slice(0, slash),
    virtualHost: false,
    ...refAndPath(slash < 0 ? '' : decoded.slice(slash + 1)),
  };
}

function refAndPath(text: string): Pick<Address, 'ref' | 'path' | 'slashAfterRef'> {
  // An empty ref with nothing behind it (`/r//`) still names the repository.
  if (text === '' || text === '/') return { ref: undefined, path: '', slashAfterRef: false };
  const slash = text.indexOf('/');
  if (slash < 0) return { ref: text, path: '', slashAfterRef: false };
  return { ref: text.slice(0, slash), path: text.slice(slash + 1), slashAfterRef: true };
}

function decodeUtf8(text: string): string {
  const bytes = sigV4Decode(text, 'plus');
  if (!isUtf8(bytes)) throw new S3Error('InvalidURI');
  return bytes.toString('utf8');
}
