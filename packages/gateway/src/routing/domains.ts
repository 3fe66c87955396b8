/** Host names the gateway answers to, and what a Host header says about addressing. */
export class GatewayDomains {
  readonly #domains: readonly string[];

  /** Throws when one domain is a sub-domain of another: its virtual hosts would be ambiguous. */
  constructor(names: readonly string[]) {
    this.#domains = names.map((name) => hostName(name.trim())).filter((name) => name !== '');
    for (const inner of this.#domains)
      for (const outer of this.#domains)
        if (inner !== outer && inner.endsWith(`.${outer}`))
          throw new TypeError(
            `gateways.s3.domain_name: "${inner}" is a sub-domain of "${outer}"; configure only one of them`,
          );
  }

  /** True for a gateway domain itself or exactly one label in front of one. */
  matches(host: string): boolean {
    const name = hostName(host);
    if (this.#domains.includes(name)) return true;
    const repository = this.repositoryOf(host);
    return repository !== undefined && !repository.includes('.');
  }

  /** The part in front of a gateway domain (virtual-host addressing), or undefined (path style). */
  repositoryOf(host: string): string | undefined {
    const name = hostName(host);
    if (this.#domains.includes(name)) return undefined;
    for (const domain of this.#domains)
      if (name.endsWith(`.${domain}`)) return name.slice(0, -domain.length - 1);
    return undefined;
  }

  /** The gateway domain a host contains, as it is spelled there, or undefined. */
  domainIn(host: string): string | undefined {
    const lower = host.toLowerCase();
    for (const domain of this.#domains) {
      const at = lower.indexOf(domain);
      if (at >= 0) return host.slice(at, at + domain.length);
    }
    return undefined;
  }
}

/** A Host without its port, in lower case. */
function hostName(host: string): string {
  const lower = host.toLowerCase();
  if (lower.startsWith('[')) return lower.slice(0, lower.indexOf(']') + 1);
  const colon = lower.indexOf(':');
  return colon < 0 ? lower : lower.slice(0, colon);
}
