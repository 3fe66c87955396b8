import { AuthError } from '../errors.ts';
import type { ClientOrigin, RequestHead } from '../identity.ts';
import { parseIp, parseIpRange, plainIp, rangeContains, type IpRange } from '../policy/ip-address.ts';

/** Believes what a request says about its origin only when it comes through a proxy we were told to trust. */
export class TrustedProxies {
  readonly #ranges: readonly IpRange[];

  constructor(cidrs: readonly string[]) {
    this.#ranges = cidrs.map((cidr) => {
      const range = parseIpRange(cidr);
      if (range === undefined) {
        throw new AuthError(
          'configuration',
          `security.trusted_proxies: "${cidr}" is not an IP address or CIDR block such as 10.0.0.0/8`,
        );
      }
      return range;
    });
  }

  originOf(peerAddress: string, encrypted: boolean, headers: RequestHead['headers']): ClientOrigin {
    const peer = plainIp(peerAddress);
    if (this.#ranges.length === 0 || !this.#trusts(peer)) return { ip: peer, secure: encrypted };
    const secure = encrypted || headerText(headers, 'x-forwarded-proto').trim().toLowerCase() === 'https';
    const hops = headerText(headers, 'x-forwarded-for').split(',');
    for (const hop of hops.reverse()) {
      const address = withoutPort(hop.trim());
      if (address === '') continue;
      if (parseIp(address) === undefined) break;
      if (!this.#trusts(address)) return { ip: plainIp(address), secure };
    }
    const real = headerText(headers, 'x-real-ip').trim();
    return { ip: parseIp(real) === undefined ? peer : plainIp(real), secure };
  }

  #trusts(address: string): boolean {
    const bytes = parseIp(address);
    return bytes !== undefined && this.#ranges.some((range) => rangeContains(range, bytes));
  }
}

export function headerText(headers: RequestHead['headers'], name: string): string {
  const value = headers[name];
  if (value === undefined) return '';
  return typeof value === 'string' ? value : value.join(',');
}

function withoutPort(hop: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(hop);
  if (bracketed !== null) return bracketed[1] ?? '';
  const dotted = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(hop);
  return dotted?.[1] ?? hop;
}
