import { createHash } from 'node:crypto';
import { signRequest, SigningKeyCache, type SigV4Credentials } from '@svc/encoding';
import type { HostAnswer } from '../worker-protocol.ts';
import type { Ask } from './svc.ts';

export const awsTimeoutMs = 60_000;
const defaultRegion = 'us-east-1';

export interface AwsAccount {
  readonly credentials: SigV4Credentials;
  readonly region: string;
  /** `''` is Amazon's own. */
  readonly endpoint: string;
}

export interface AwsRequest {
  readonly service: 's3' | 'glue';
  readonly method: string;
  /** Encoded. */
  readonly path: string;
  /** From `encodeQuery`. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes, one per character. */
  readonly body?: string;
}

const keys = new SigningKeyCache();

export function awsAccount(key: string, secret: string, region: string, endpoint: string): AwsAccount {
  return {
    credentials: { accessKeyId: key, secretAccessKey: secret },
    region: region === '' ? defaultRegion : region,
    endpoint,
  };
}

/** Sends a signed request. */
export function askAws(
  ask: Ask,
  account: AwsAccount,
  request: AwsRequest,
): Exclude<HostAnswer, { error: string }> {
  const { credentials, region, endpoint } = account;
  const { service, method, path, query = '', body } = request;
  const base = new URL(endpoint === '' ? `https://${service}.${region}.amazonaws.com` : endpoint);
  const payload = Buffer.from(body ?? '', 'latin1');
  const { headers } = signRequest(
    {
      method,
      path,
      query,
      headers: { ...request.headers, host: base.host },
      payloadHash: createHash('sha256').update(payload).digest('hex'),
    },
    { credentials, region, service, now: new Date(), keys },
  );
  return ask({
    kind: 'http',
    url: `${base.origin}${path}${query === '' ? '' : `?${query}`}`,
    method,
    headers,
    body,
    timeoutMs: awsTimeoutMs,
  });
}
