import type { IncomingMessage } from 'node:http';
import type { GatewayDomains } from './domains.ts';

const signedQuery = /[?&](?:AWSAccessKeyId|X-Amz-Credential)=[^&]/;

/** Whether a request on the shared listener belongs to the gateway; otherwise it is the API's or the UI's. */
export function isGatewayRequest(message: IncomingMessage, domains: GatewayDomains): boolean {
  const { authorization, host } = message.headers;
  if (authorization !== undefined && (authorization.startsWith('AWS4') || authorization.startsWith('AWS ')))
    return true;
  const signature = message.headers['x-amz-signature'];
  if (signature !== undefined && signature.length > 0) return true;
  if (host !== undefined && domains.matches(host)) return true;
  const url = message.url ?? '';
  return url.includes('?') && signedQuery.test(url);
}
