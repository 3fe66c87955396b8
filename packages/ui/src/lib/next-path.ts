const home = '/repositories';

/** Where to go after login: only a place on this origin. */
export function safeNext(next: string | undefined, origin: string): string {
  const path = (next ?? '').trim();
  if (!path.startsWith('/') || path.startsWith('//') || path.startsWith('/\\')) return home;
  let url: URL;
  try {
    url = new URL(path, origin);
  } catch {
    return home;
  }
  if (url.origin !== origin || url.pathname === '/' || url.pathname === '/auth/login') return home;
  return url.pathname + url.search + url.hash;
}

/** Addresses of the API are followed with a full page load, not by the router. */
export function needsFullLoad(path: string): boolean {
  return path.startsWith('/api/');
}
