import { AuthError } from '../errors.ts';
import type { RequestHead } from '../identity.ts';
import { headerText } from './client-origin.ts';

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * A browser sends our cookie along with requests that other sites make it send. Only requests of our own pages
 * may change something by cookie. Throws `forbidden`.
 */
export function refuseCrossOrigin(request: RequestHead): void {
  if (safeMethods.has(request.method.toUpperCase())) return;
  const origin = headerText(request.headers, 'origin');
  if (origin === '') {
    const site = headerText(request.headers, 'sec-fetch-site');
    if (site === '' || site === 'same-origin' || site === 'none') return;
  } else if (origin.toLowerCase() === ownOrigin(request)) return;
  throw new AuthError('forbidden', 'cross-origin request refused');
}

function ownOrigin({ headers, client }: RequestHead): string {
  const scheme = client.secure ? 'https' : 'http';
  const host = headerText(headers, 'host').toLowerCase();
  // Browsers leave the default port out of Origin, and may or may not have put it into Host.
  return `${scheme}://${host.replace(client.secure ? /:443$/ : /:80$/, '')}`;
}
