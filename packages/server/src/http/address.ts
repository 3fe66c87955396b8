/** `host:port` as checked by the configuration; an empty host means every interface. */
export function parseListenAddress(address: string): { host: string; port: number } {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  return { host, port: Number(address.slice(colon + 1)) };
}

/** The address a person can open: a server on every interface is reached on this machine as localhost. */
export function publicUrl(host: string, port: number, tls: boolean): string {
  const anywhere = host === '' || host === '0.0.0.0' || host === '::';
  const name = anywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `${tls ? 'https' : 'http'}://${name}:${port}`;
}
