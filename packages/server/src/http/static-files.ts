import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.wasm': 'application/wasm',
};

type Encoding = 'br' | 'gzip' | 'identity';

interface Variant {
  readonly path: string;
  readonly size: number;
}

export interface StaticFile {
  readonly type: string;
  /** A file whose name holds a hash of its content never changes. */
  readonly cacheControl: string;
  readonly etag: string | undefined;
  readonly variants: ReadonlyMap<Encoding, Variant>;
}

function readFiles(folder: string): ReadonlyMap<string, StaticFile> {
  const files = new Map<string, StaticFile>();
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

/** A folder of built files with their compressed forms. */
export class StaticFiles {
  readonly #folder: string;
  // Read with the first request: most programs never ask for a page.
  #files: ReadonlyMap<string, StaticFile> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The file of a path that begins with a slash. */
  get(path: string): StaticFile | undefined {
    this.#files ??= readFiles(this.#folder);
    return this.#files.get(path);
  }
}

/** What every page of ours is sent with. */
export function setPageHeaders(response: ServerResponse, contentPolicy: string): void {
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Referrer-Policy', 'same-origin');
  response.setHeader('X-Frame-Options', 'SAMEORIGIN');
  response.setHeader('Content-Security-Policy', contentPolicy);
}

export function sendNoFile(response: ServerResponse): void {
  response.writeHead(404, { 'Content-Length': 0, 'Cache-Control': 'no-store' });
  response.end();
}

/** Sends the smallest form of a file that the client takes. */
export function sendFile(
  file: StaticFile,
  request: IncomingMessage,
  response: ServerResponse,
  status = 200,
): void {
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
    sendNoFile(response);
    return;
  }
  response.setHeader('Content-Type', file.type);
  if (encoding !== 'identity') response.setHeader('Content-Encoding', encoding);
  response.writeHead(status, { 'Content-Length': variant.size });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  const stream = createReadStream(variant.path);
  // A file taken away by an update under a running server ends the answer early.
  stream.on('error', () => response.destroy());
  stream.pipe(response);
}
