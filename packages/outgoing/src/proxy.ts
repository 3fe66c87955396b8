import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** The variables `HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`, in either case. */
export type ProxyVariables = Readonly<Record<string, string | undefined>>;

/** The proxy that the variables name for an address, or undefined when it is to be called directly. */
export function proxyOf(url: URL, variables: ProxyVariables): string | undefined {
  const name = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const proxy = variableOf(variables, name);
  if (proxy === '' || isExempt(url, variableOf(variables, 'no_proxy'))) return undefined;
  return /^\w+:\/\//.test(proxy) ? proxy : `http://${proxy}`;
}

function variableOf(variables: ProxyVariables, name: string): string {
  return variables[name.toUpperCase()] ?? variables[name] ?? '';
}

/** Names of this machine never go to a proxy. */
function isExempt(url: URL, noProxy: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))) return true;
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  return noProxy
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry !== '' && matches(entry, host, port));
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  if (entry.includes('/')) return isInNetwork(entry, host);
  const withPort = /^(.+):(\d+)$/.exec(entry);
  const isName = withPort !== null && !isIPv6(entry);
  if (isName && withPort[2] !== port) return false;
  const name = (isName ? (withPort[1] ?? '') : entry).replace(/^\*?\./, '.');
  return name.startsWith('.') ? host.endsWith(name) : host === name || host.endsWith(`.${name}`);
}

function isInNetwork(network: string, host: string): boolean {
  const [address = '', bits = ''] = network.split('/');
  const list = new BlockList();
  try {
    list.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6');
    return (isIPv4(host) || isIPv6(host)) && list.check(host, isIPv4(host) ? 'ipv4' : 'ipv6');
  } catch {
    return false;
  }
}
