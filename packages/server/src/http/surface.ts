import { isApiRequest } from '@svc/api';
import type { ApiListener } from '@svc/api';
import type { Gateway } from '@svc/gateway';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Listener } from './listener.ts';
import type { TlsPair } from './listener.ts';

interface SurfaceOptions {
  readonly tls?: TlsPair | undefined;
  readonly api: ApiListener;
  readonly gateway: Gateway;
  /** Everything below `/iceberg/`. */
  readonly iceberg: RequestListener;
  /** Everything below `/scim/`; undefined when no identity provider has a token. */
  readonly scim: RequestListener | undefined;
  /** Everything that is neither API nor gateway. */
  readonly pages: RequestListener;
  readonly traces: () => boolean;
  /** Stands around every request. */
  readonly around?: Around | undefined;
}

type Around = (request: IncomingMessage, response: ServerResponse, serve: RequestListener) => void;

function within(around: Around | undefined, serve: RequestListener): RequestListener {
  return around === undefined ? serve : (request, response) => around(request, response, serve);
}

/** API, gateway, table catalog, provisioning and pages on one listener. */
export interface Surface {
  readonly draining: boolean;
  /** How many requests have come. */
  readonly arrivals: number;
  listen(host: string, port: number): Promise<AddressInfo>;
  /** Lets requests wait until they are released. */
  hold(): void;
  release(): void;
  drain(limitMs: number): Promise<boolean>;
  useTls(pair: TlsPair): void;
}

/** Sends each request to the part that answers it; what S3 clients sign is the gateway's, whatever its path. */
export function createSurface(options: SurfaceOptions): Surface {
  const { tls, traces, around, api, gateway, iceberg, scim, pages } = options;
  const others = (request: IncomingMessage): RequestListener => {
    if (isBelow('/iceberg/', request)) return iceberg;
    return scim !== undefined && isBelow('/scim/', request) ? scim : pages;
  };
  return new Listener({
    tls,
    traces,
    serve: within(around, (request, response) => {
      if (gateway.isGatewayRequest(request)) void gateway.handle(request, response);
      else if (isApiRequest(request)) api(request, response);
      else others(request)(request, response);
    }),
    serveExpecting: within(around, (request, response) => {
      if (gateway.isGatewayRequest(request)) {
        void gateway.handleExpectContinue(request, response);
        return;
      }
      if (isApiRequest(request)) {
        api(request, response, true);
        return;
      }
      // No page reads a body; the others ask for theirs.
      others(request)(request, response);
    }),
  });
}

function isBelow(path: string, request: IncomingMessage): boolean {
  return request.url?.startsWith(path) === true;
}
