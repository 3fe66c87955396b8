import type { FastifyInstance, FastifyPluginCallback, FastifyServerOptions } from 'fastify';
import { openApiDocument, operations } from '@svc/contract';
import type { Operation } from '@svc/contract';
import { Answer } from './answer/answer.ts';
import { send } from './answer/send.ts';
import type { Call } from './call.ts';
import { createHandlers } from './handlers/index.ts';
import type { ApiOptions } from './options.ts';
import { Route } from './route.ts';

/**
 * Options of the server that carries the API: long path parameters are let through to be judged by their own
 * rules, and a path that cannot be decoded is answered as JSON.
 */
export const apiServerOptions = {
  exposeHeadRoutes: false,
  return503OnClosing: false,
  routerOptions: { maxParamLength: 1024 * 1024 },
  frameworkErrors: (_error, request, reply) => {
    reply.hijack();
    void send(request.raw, reply.raw, Answer.json(400, { message: 'the path is not validly encoded' }));
  },
} satisfies FastifyServerOptions;

/**
 * The HTTP API as a Fastify plugin; register it with the prefix of the contract (`basePath`). Fastify routes;
 * everything after the route is the API's own, so that the order of checks is the contract's.
 */
export function createApi(options: ApiOptions): FastifyPluginCallback {
  return (app, _pluginOptions, done) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
    app.setNotFoundHandler((request, reply) => {
      reply.hijack();
      void send(request.raw, reply.raw, invalidEndpoint);
    });
    // Only a Content-Type that is no media type at all ends here, before the route.
    app.setErrorHandler((error, request, reply) => {
      reply.hijack();
      void send(request.raw, reply.raw, frameworkRefusal(error, request.headers['content-type']));
    });
    const handlers: Readonly<Record<string, unknown>> = createHandlers(options);
    for (const operation of Object.values(operations) as Operation[]) {
      const route = new Route(operation, handlers[operation.operationId] as (call: Call) => unknown, options);
      for (const path of [operation.path, ...(operation.aliases ?? []).map((alias) => alias.path)]) {
        addRoute(app, operation, path, route);
      }
    }
    done();
  };
}

const invalidEndpoint = Answer.json(404, { message: 'invalid API endpoint' });

function addRoute(app: FastifyInstance, operation: Operation, path: string, route: Route): void {
  app.route({
    method: operation.method,
    url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    exposeHeadRoute: false,
    handler(request, reply) {
      reply.hijack();
      const params = request.params as Record<string, string>;
      for (const name in params) {
        if (params[name] === '') {
          void send(request.raw, reply.raw, invalidEndpoint);
          return;
        }
      }
      void route.serve(request.raw, reply.raw, params);
    },
  });
}

function frameworkRefusal(error: unknown, contentType: string | undefined): Answer {
  if ((error as { code?: unknown }).code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return Answer.json(400, {
      message: `request body has an error: header Content-Type has unexpected value ${JSON.stringify(contentType)}`,
    });
  }
  return Answer.json(500, { message: 'internal server error' });
}

/** The body of `/openapi.json`. */
export function openApiJson(version: string): string {
  return JSON.stringify(openApiDocument(version));
}
