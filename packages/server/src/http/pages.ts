import type { Redirection } from '@svc/auth';
import type { RequestListener, ServerResponse } from 'node:http';
import { isDocsPath } from './docs-files.ts';
import type { SessionPages } from './session-pages.ts';

export interface PagesOptions {
  readonly draining: () => boolean;
  readonly installationId: () => string | undefined;
  /** True when the key-value store answers a read. */
  readonly storeAnswers: () => Promise<boolean>;
  readonly metrics: () => Promise<string>;
  readonly openApi: () => string;
  readonly session: SessionPages;
  /** The web UI, or undefined when it is switched off. */
  readonly ui: RequestListener | undefined;
  /** The documentation below `/docs`, or undefined when the UI is switched off. */
  readonly docs: RequestListener | undefined;
}

/** How long the store may take to answer before this server is not ready. */
const readyWithinMs = 1000;

/** Everything on the listener that is neither API nor gateway: health, metrics, the API description, the UI. */
export function createPages(options: PagesOptions): RequestListener {
  return (request, response) => {
    const url = request.url ?? '/';
    const end = url.indexOf('?');
    const path = end < 0 ? url : url.slice(0, end);
    switch (path) {
      case '/_health':
        health(options, response);
        break;
      case '/_ready':
        void ready(options, response);
        break;
      case '/metrics':
        void metrics(options, response);
        break;
      case '/openapi.json':
        send(response, 200, 'application/json', options.openApi());
        break;
      case '/logout':
        void redirect(
          response,
          303,
          options.session.logout(request),
          'the session could not be ended; try again\n',
        );
        break;
      case '/oidc/login': {
        const { providerLogin } = options.session;
        if (providerLogin === undefined) send(response, 404, 'text/plain', 'not found\n');
        else {
          void redirect(
            response,
            302,
            providerLogin(request),
            'the identity provider does not answer; try again later\n',
          );
        }
        break;
      }
      default:
        if (options.ui === undefined || url.startsWith('/_'))
          send(response, 404, 'text/plain', 'not found\n');
        else if (options.docs !== undefined && isDocsPath(path)) options.docs(request, response);
        else options.ui(request, response);
    }
  };
}

/** No dependency is asked: a slow database must not make anyone restart this process. */
function health(options: PagesOptions, response: ServerResponse): void {
  if (options.draining()) {
    send(response, 503, 'text/plain', 'shutting down\n');
    return;
  }
  const id = options.installationId();
  send(response, 200, 'text/plain', id === undefined ? 'alive!' : `alive! ${id}`);
}

async function ready(options: PagesOptions, response: ServerResponse): Promise<void> {
  if (options.draining()) {
    send(response, 503, 'text/plain', 'shutting down\n');
    return;
  }
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), readyWithinMs);
  });
  const answers = await Promise.race([options.storeAnswers().catch(() => false), late]);
  clearTimeout(timer);
  if (answers) send(response, 200, 'text/plain', 'ready\n');
  else send(response, 503, 'text/plain', 'the key-value store does not answer\n');
}

async function metrics(options: PagesOptions, response: ServerResponse): Promise<void> {
  try {
    send(response, 200, 'text/plain; version=0.0.4; charset=utf-8', await options.metrics());
  } catch {
    send(response, 500, 'text/plain', 'metrics are not available\n');
  }
}

async function redirect(
  response: ServerResponse,
  status: 302 | 303,
  redirection: Promise<Redirection>,
  failure: string,
): Promise<void> {
  try {
    const { cookies, location } = await redirection;
    response.writeHead(status, {
      Location: location,
      'Set-Cookie': [...cookies],
      'Cache-Control': 'no-store',
      'Content-Length': 0,
    });
    response.end();
  } catch {
    send(response, 503, 'text/plain', failure);
  }
}

export function send(response: ServerResponse, status: number, type: string, body: string): void {
  const bytes = Buffer.from(body);
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': bytes.length,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(response.req.method === 'HEAD' ? undefined : bytes);
}

function placeholderPage(content: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>svc</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}</style></head>
<body>${content}
</body></html>
`;
}

function standIn(content: string): RequestListener {
  return (_request, response) => {
    response.setHeader('X-Frame-Options', 'SAMEORIGIN');
    response.setHeader('Referrer-Policy', 'same-origin');
    response.setHeader('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'");
    send(response, 200, 'text/html; charset=utf-8', placeholderPage(content));
  };
}

/** Stands in for the UI where it was not built into the package. */
export const placeholderUi = standIn(`<h1>svc is running</h1>
<p>The web UI is not part of this package. The HTTP API is at <a href="/api/v1/healthcheck">/api/v1</a>, described by
<a href="/openapi.json">/openapi.json</a>; the health of the server is at <a href="/_health">/_health</a>.</p>`);

/** Stands in for the documentation where it was not built. */
export const placeholderDocs = standIn(`<h1>The documentation is not part of this build</h1>
<p><code>npm run site</code> in the clone adds it; no restart is needed. Until then its pages are the Markdown files in
<code>docs/</code>. The HTTP API is described by <a href="/openapi.json">/openapi.json</a>.</p>`);
