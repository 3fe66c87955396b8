import { fastify } from 'fastify';
import type { FastifyPluginCallback } from 'fastify';
import { apiServerOptions, basePath } from '@svc/api';
import type { Gateway } from '@svc/gateway';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Listener } from './listener.ts';
import type { TlsPair } from './listener.ts';

interface SurfaceOptions {
  readonly tls?: TlsPair | undefined;
  readonly api: FastifyPluginCallback;
  readonly gateway: Gateway;
  /** Everything that is neither API nor gateway. */
  readonly pages: RequestListener;
  readonly traces: () => boolean;
}

/** API, gateway and pages on one listener. */
export interface Surface {
  readonly draining: boolean;
  listen(host: string, port: number): Promise<AddressInfo>;
  drain(limitMs: number): Promise<boolean>;
  useTls(pair: TlsPair): void;
}

/**
 * The gateway stands beside Fastify, not inside it: S3 clients send paths and content types that Fastify refuses
 * before any handler sees them.
 */
export async function createSurface(options: SurfaceOptions): Promise<Surface> {
  const { gateway, pages } = options;
  let api: RequestListener = () => {};
  const isApi = (url: string | undefined): boolean =>
    url !== undefined &&
    url.startsWith(basePath) &&
    (url.length === basePath.length || '/?'.includes(url.charAt(basePath.length)));
  const listener = new Listener({
    tls: options.tls,
    traces: options.traces,
    serve(request, response) {
      if (gateway.isGatewayRequest(request)) void gateway.handle(request, response);
      else if (isApi(request.url)) api(request, response);
      else pages(request, response);
    },
    serveExpecting(request, response) {
      if (gateway.isGatewayRequest(request)) {
        void gateway.handleExpectContinue(request, response);
        return;
      }
      response.writeContinue();
      if (isApi(request.url)) api(request, response);
      else pages(request, response);
    },
  });
  const app = fastify({
    ...apiServerOptions,
    serverFactory(handler) {
      api = handler;
      return listener.server;
    },
  });
  app.register(options.api, { prefix: basePath });
  await app.ready();
  return listener;
}
