import { isApiRequest } from '@svc/api';
import type { ApiListener } from '@svc/api';
import type { Gateway } from '@svc/gateway';
import type { IncomingMessage, RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Listener } from './listener.ts';
import type { TlsPair } from './listener.ts';

interface SurfaceOptions {
  readonly tls?: TlsPair | undefined;
  readonly api: ApiListener;
  readonly gateway: Gateway;
  /** Everything below `/iceberg/`. */
  readonly iceberg: RequestListener;
  /** Everything that is neither API nor gateway. */
  readonly pages: RequestListener;
  readonly traces: () => boolean;
}

/** API, gateway, table catalog and pages on one listener. */
export interface Surface {
  readonly draining: boolean;
  listen(host: string, port: number): Promise<AddressInfo>;
  drain(limitMs: number): Promise<boolean>;
  useTls(pair: TlsPair): void;
}

/** Sends each request to the part that answers it; what S3 clients sign is the gateway's, whatever its path. */
export function createSurface({ tls, traces, api, gateway, iceberg, pages }: SurfaceOptions): Surface {
  return new Listener({
    tls,
    traces,
    serve(request, response) {
      if (gateway.isGatewayRequest(request)) void gateway.handle(request, response);
      else if (isApiRequest(request)) api(request, response);
      else if (isIcebergRequest(request)) iceberg(request, response);
      else pages(request, response);
    },
    serveExpecting(request, response) {
      if (gateway.isGatewayRequest(request)) {
        void gateway.handleExpectContinue(request, response);
        return;
      }
      if (isApiRequest(request)) {
        api(request, response, true);
        return;
      }
      if (isIcebergRequest(request)) {
        iceberg(request, response);
        return;
      }
      // No page reads a body.
      pages(request, response);
    },
  });
}

function isIcebergRequest(request: IncomingMessage): boolean {
  return request.url?.startsWith('/iceberg/') === true;
}
