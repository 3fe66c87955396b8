import { existsSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { sendFile, sendNoFile, setPageHeaders, StaticFiles } from './static-files.ts';

/** The built documentation: beside the bundle, or in `dist` when the sources run as they are. */
export function docsFolder(): string | undefined {
  const candidates = [join(import.meta.dirname, 'docs'), join(import.meta.dirname, '../../../../dist/docs')];
  return candidates.find((folder) => existsSync(join(folder, 'index.html')));
}

export function isDocsPath(path: string): boolean {
  return path === '/docs' || path.startsWith('/docs/');
}

/** Everything from here: the documentation calls nobody. Styles may be inline because highlighted code has some. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');

/** Serves the documentation below `/docs/`; its pages are asked for without `.html`. */
export function createDocs(folder: string): RequestListener {
  const files = new StaticFiles(folder);
  return (request, response) => {
    const [path = ''] = (request.url ?? '').slice('/docs'.length).split('?', 1);
    setPageHeaders(response, policy);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      sendNoFile(response);
      return;
    }
    if (path === '' || files.get(`${path}/index.html`) !== undefined) {
      response.writeHead(301, {
        Location: `/docs${path}/`,
        'Content-Length': 0,
        'Cache-Control': 'no-cache',
      });
      response.end();
      return;
    }
    const file = path.endsWith('/')
      ? files.get(`${path}index.html`)
      : (files.get(path) ?? files.get(`${path}.html`));
    if (file !== undefined) {
      sendFile(file, request, response);
      return;
    }
    const none = path.startsWith('/assets/') ? undefined : files.get('/404.html');
    if (none === undefined) sendNoFile(response);
    else sendFile(none, request, response, 404);
  };
}
