import { sigV4Encode } from '@svc/encoding';
import { BlockError } from '../../errors.ts';

/** Where an account, one of its containers or a blob is reached. */
export interface AzureLocation {
  readonly origin: string;
  /** Encoded, beginning with `/`. */
  readonly path: string;
}

/** The public endpoints of a cloud, or one server that has the account in its path. */
export class AzureEndpoint {
  readonly #domain: string;
  readonly #test: URL | undefined;

  constructor(domain: string, testEndpointUrl: string | undefined) {
    this.#domain = domain;
    if (testEndpointUrl === undefined) return;
    const url = URL.parse(testEndpointUrl);
    if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
      throw new BlockError(
        'configuration',
        `azure.test_endpoint_url "${testEndpointUrl}" is not an http:// or https:// URL`,
      );
    }
    this.#test = url;
  }

  get isPlainHttp(): boolean {
    return this.#test?.protocol === 'http:';
  }

  locate(account: string, container = '', key = ''): AzureLocation {
    const place = [container, key].filter((part) => part !== '').map((part) => sigV4Encode(part, 'keep'));
    if (this.#test === undefined) {
      return { origin: `https://${account}.${this.#domain}`, path: `/${place.join('/')}` };
    }
    const base = this.#test.pathname.replace(/\/+$/, '');
    return { origin: this.#test.origin, path: [base, account, ...place].join('/') };
  }
}
