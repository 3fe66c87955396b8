import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

type Encoding = 'br' | 'gzip' | 'identity';

interface Variant {
  readonly path: string;
  readonly size: number;
}

interface UiFile {
  readonly type: string;
  /** A file whose name holds a hash of its content never changes. */
  readonly cacheControl: string;
  readonly etag: string | undefined;
  readonly variants: ReadonlyMap<Encoding, Variant>;
}

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

function readFiles(folder: string): ReadonlyMap<string, UiFile> {
  const files = new Map<string, UiFile>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const type = types[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    const variants = new Map<Encoding, Variant>([['identity', { path, size: statSync(path).size }]]);
    for (const [encoding, suffix] of [
      ['br', '.br'],
      ['gzip', '.gz'],
    ] as const) {
      if (existsSync(path + suffix)) {
        variants.set(encoding, { path: path + suffix, size: statSync(path + suffix).size });
      }
    }
    const url = path.slice(folder.length).replaceAll('\\', '/');
    const hashed = url.startsWith('/assets/');
    files.set(url, {
      type,
      cacheControl: hashed ? 'public, max-age=31536000, immutable' : 'no-cache',
      etag: hashed
        ? undefined
        : `"${createHash('sha256').update(readFileSync(path)).digest('base64url').slice(0, 22)}"`,
      variants,
    });
  }
  return files;
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
  // Read with the first request: most programs never ask for a page.
  let files: ReadonlyMap<string, UiFile> | undefined;
  const policy = contentPolicy(storeOrigins);
  return (request, response) => {
    const [path = '/'] = (request.url ?? '/').split('?', 1);
    files ??= readFiles(folder);
    const file = files.get(path) ?? (path.startsWith('/assets/') ? undefined : files.get('/index.html'));
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Referrer-Policy', 'same-origin');
    response.setHeader('X-Frame-Options', 'SAMEORIGIN');
    response.setHeader('Content-Security-Policy', policy);
    if (file === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response.writeHead(404, { 'Content-Length': 0, 'Cache-Control': 'no-store' });
      response.end();
      return;
    }
    sendFile(file, request, response);
  };
}

function sendFile(file: UiFile, request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('Cache-Control', file.cacheControl);
  response.setHeader('Vary', 'Accept-Encoding');
  if (file.etag !== undefined) {
    response.setHeader('ETag', file.etag);
    if (request.headers['if-none-match'] === file.etag) {
      response.writeHead(304);
      response.end();
      return;
    }
  }
  const accepted = request.headers['accept-encoding'] ?? '';
  const encoding: Encoding =
    file.variants.has('br') && /\bbr\b/.test(accepted)
      ? 'br'
      : file.variants.has('gzip') && /\bgzip\b/.test(accepted)
        ? 'gzip'
        : 'identity';
  const variant = file.variants.get(encoding);
  if (variant === undefined) {
    response.writeHead(404, { 'Content-Length': 0 });
    response.end();
    return;
  }
  response.setHeader('Content-Type', file.type);
  if (encoding !== 'identity') response.setHeader('Content-Encoding', encoding);
  response.writeHead(200, { 'Content-Length': variant.size });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  const stream = createReadStream(variant.path);
  // A file taken away by an update under a running server ends the answer early.
  stream.on('error', () => response.destroy());
  stream.pipe(response);
}
