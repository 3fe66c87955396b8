import type { IncomingMessage, ServerResponse } from 'node:http';
import { basePath, openApiDocument, operations } from '@svc/contract';
import type { Operation } from '@svc/contract';
import { Answer } from './answer/answer.ts';
import { send } from './answer/send.ts';
import type { Call } from './call.ts';
import { createHandlers } from './handlers/index.ts';
import type { ApiOptions } from './options.ts';
import { expectContinue } from './request/expect-continue.ts';
import { hasBody } from './request/json-body.ts';
import { Route } from './route.ts';
import { Router } from './router.ts';

/** The HTTP API below the prefix of the contract (`basePath`). */
export function createApi(options: ApiOptions): ApiListener {
  const handlers: Readonly<Record<string, unknown>> = createHandlers(options);
  const router = new Router<Route>();
  for (const [id, operation] of Object.entries<Operation>(operations)) {
    const route = new Route(operation, handlers[id] as (call: Call) => unknown, options);
    for (const path of [operation.path, ...operation.aliases.map((alias) => alias.path)]) {
      router.add(operation.method, path, route);
    }
  }
  return (request, response, expectsContinue = false) => {
    if (expectsContinue) expectContinue(request);
    serve(router, request, response);
  };
}

/**
 * A listener for node:http. With `expectsContinue` the client waits to be told to send its body, and is told only when
 * the body is wanted.
 */
export type ApiListener = (
  request: IncomingMessage,
  response: ServerResponse,
  expectsContinue?: boolean,
) => void;

/** True for requests that are the API's to answer, whether or not it knows the path. */
export function isApiRequest(request: IncomingMessage): boolean {
  const url = request.url ?? '';
  if (!url.startsWith(basePath)) return false;
  return url.length === basePath.length || '/?#'.includes(url.charAt(basePath.length));
}

const invalidEndpoint = Answer.json(404, { message: 'invalid API endpoint' });
const invalidPath = Answer.json(400, { message: 'the path is not validly encoded' });

function serve(router: Router<Route>, request: IncomingMessage, response: ServerResponse): void {
  let match;
  try {
    match = router.find(request.method ?? '', pathOf(request.url ?? ''));
  } catch {
    void send(request, response, invalidPath);
    return;
  }
  if (match === undefined) {
    void send(request, response, invalidEndpoint);
    return;
  }
  const contentType = request.headers['content-type'];
  if (contentType !== undefined && hasBody(request) && !mediaType.test(contentType)) {
    const message = `request body has an error: header Content-Type has unexpected value ${JSON.stringify(contentType)}`;
    void send(request, response, Answer.json(400, { message }));
    return;
  }
  void match.handler.serve(request, response, match.params);
}

const mediaType = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/;

function pathOf(url: string): string {
  const end = url.search(/[?#]/);
  return url.slice(basePath.length, end === -1 ? url.length : end);
}

/** The body of `/openapi.json`. */
export function openApiJson(version: string): string {
  return JSON.stringify(openApiDocument(version));
}
