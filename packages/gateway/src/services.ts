import type { Auth, Identity } from '@svc/auth';
import type { SigningKeyCache } from '@svc/encoding';
import type { Engine } from '@svc/engine';
import type { BodyMemory } from '@svc/http';
import type { CorsRules } from './cors.ts';
import type { GatewayDomains } from './routing/domains.ts';
import type { VerifiedUrls } from './signature/verified-urls.ts';

export interface GatewayLogger {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** What is told about a finished request: for metrics, usage statistics and the audit log. Holds no secrets. */
export interface RequestRecord {
  readonly requestId: string;
  readonly method: string;
  readonly host: string;
  /** Without the query, which may hold a signature. */
  readonly rawPath: string;
  readonly remoteAddress: string;
  readonly userAgent: string;
  readonly client: string;
  operation: string;
  /** Name of the usage event, when the request reached an operation. */
  event: string | undefined;
  identity: Identity | undefined;
  /** How the bucket got its meaning, where it is no repository. */
  binding: 'alias' | 'view' | undefined;
  repository: string | undefined;
  ref: string | undefined;
  path: string | undefined;
  /** The host is a gateway domain or a sub-domain of one. */
  matchedHost: boolean;
  uploadId: string | undefined;
  partNumber: string | undefined;
  /** 499 when the client left before the answer. */
  status: number;
  errorCode: string | undefined;
  bytesSent: number;
  /** Object bytes written (PutObject, CompleteMultipartUpload). */
  bytesIn: number;
  /** Object bytes read (GetObject). */
  bytesOut: number;
  durationMs: number;
}

export interface GatewayObserver {
  started(operation: string): void;
  finished(record: RequestRecord): void;
}

/** Everything the operations share. */
export interface Services {
  readonly engine: Engine;
  readonly auth: Auth;
  readonly domains: GatewayDomains;
  readonly signingKeys: SigningKeyCache;
  readonly verifiedUrls: VerifiedUrls;
  readonly region: string;
  readonly verifyUnsupported: boolean;
  readonly cors: CorsRules | undefined;
  readonly fallbackUrl: URL | undefined;
  readonly logger: GatewayLogger;
  readonly observer: GatewayObserver | undefined;
  readonly bodyMemory: BodyMemory | undefined;
  readonly now: () => number;
  /** Sixteen upper hex digits naming this process in `x-amz-id-2` and `<HostId>`. */
  readonly hostId: string;
}
