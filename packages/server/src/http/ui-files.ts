import { existsSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { sendFile, sendNoFile, setPageHeaders, StaticFiles } from './static-files.ts';

export interface UiOptions {
  readonly folder: string;
  /** Origins of the object stores the browser may talk to directly. */
  readonly storeOrigins: readonly string[];
}

/** The built web UI: beside the bundle, or in `dist` when the sources run as they are. */
export function uiFolder(): string | undefined {
  const candidates = [join(import.meta.dirname, 'ui'), join(import.meta.dirname, '../../../../dist/ui')];
  return candidates.find((folder) => existsSync(join(folder, 'index.html')));
}

/** Scripts only from here; styles may be inline because the component library sets some. */
function contentPolicy(storeOrigins: readonly string[]): string {
  const stores = storeOrigins.map((origin) => ` ${origin}`).join('');
  return [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "worker-src 'self' blob:",
    "style-src 'self' 'unsafe-inline'",
    `img-src 'self' data: blob:${stores}`,
    "media-src 'self'",
    "font-src 'self'",
    `connect-src 'self'${stores}`,
    "frame-src 'self' blob:",
    "object-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'self'",
  ].join('; ');
}

/** Serves the files of the UI; a path that is none of them is a page of its router. */
export function createUi({ folder, storeOrigins }: UiOptions): RequestListener {
  const files = new StaticFiles(folder);
  const policy = contentPolicy(storeOrigins);
  return (request, response) => {
    const [path = '/'] = (request.url ?? '/').split('?', 1);
    const file = files.get(path) ?? (path.startsWith('/assets/') ? undefined : files.get('/index.html'));
    setPageHeaders(response, policy);
    if (file === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) sendNoFile(response);
    else sendFile(file, request, response);
  };
}
