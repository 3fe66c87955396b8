import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Auth } from '@svc/auth';
import { SigningKeyCache } from '@svc/encoding';
import type { Engine } from '@svc/engine';
import type { BodyMemory } from '@svc/http';
import { isPreflight, type CorsRules } from './cors.ts';
import { GatewayDomains } from './routing/domains.ts';
import { isGatewayRequest } from './routing/is-gateway-request.ts';
import { serve } from './serve.ts';
import type { GatewayLogger, GatewayObserver, Services } from './services.ts';
import { VerifiedUrls } from './signature/verified-urls.ts';

export interface GatewayOptions {
  readonly engine: Engine;
  readonly auth: Auth;
  /** `gateways.s3.domain_name`, already split. */
  readonly domains: readonly string[];
  /** `gateways.s3.region`. */
  readonly region: string;
  /** `gateways.s3.verify_unsupported`. */
  readonly verifyUnsupported: boolean;
  /** `gateways.s3.cors`; without it pages of other origins may do nothing. */
  readonly cors?: CorsRules | undefined;
  /** `gateways.s3.fallback_url`. */
  readonly fallbackUrl?: string | undefined;
  readonly logger: GatewayLogger;
  readonly observer?: GatewayObserver | undefined;
  /** Memory for bodies being collected. Without it there is no limit. */
  readonly bodyMemory?: BodyMemory | undefined;
  /** Milliseconds since 1970. */
  readonly clock?: (() => number) | undefined;
}

/** The S3 gateway on the shared listener, in terms of node:http. */
export interface Gateway {
  /** Whether a request is the gateway's; everything else belongs to the API and the UI. */
  isGatewayRequest(message: IncomingMessage): boolean;
  /** For the listener's `request` event. Never rejects. */
  handle(message: IncomingMessage, response: ServerResponse): Promise<void>;
  /** For `checkContinue`: `100 Continue` is sent only when the body is really wanted. */
  handleExpectContinue(message: IncomingMessage, response: ServerResponse): Promise<void>;
}

/** Throws when the domains or the fallback URL make no sense. */
export function createGateway(options: GatewayOptions): Gateway {
  const services: Services = {
    engine: options.engine,
    auth: options.auth,
    domains: new GatewayDomains(options.domains),
    signingKeys: new SigningKeyCache(),
    verifiedUrls: new VerifiedUrls(),
    region: options.region,
    verifyUnsupported: options.verifyUnsupported,
    cors: options.cors,
    fallbackUrl: fallbackUrlOf(options.fallbackUrl),
    logger: options.logger,
    observer: options.observer,
    bodyMemory: options.bodyMemory,
    now: options.clock ?? Date.now,
    hostId: randomBytes(8).toString('hex').toUpperCase(),
  };
  return {
    isGatewayRequest: (message) =>
      isGatewayRequest(message, services.domains) ||
      (options.cors !== undefined && message.method === 'OPTIONS' && isPreflight(message.headers)),
    handle: (message, response) => serve(services, message, response, false),
    handleExpectContinue: (message, response) => serve(services, message, response, true),
  };
}

function fallbackUrlOf(text: string | undefined): URL | undefined {
  if (text === undefined || text === '') return undefined;
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new TypeError(`gateways.s3.fallback_url: "${text}" is not an http or https URL`);
  return url;
}
