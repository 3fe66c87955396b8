import { isIP } from 'node:net';
import { sigV4Encode } from '@svc/encoding';
import { BlockError } from '../../errors.ts';

/** Where one bucket (or one of its objects) is reached. */
export interface S3Location {
  readonly origin: string;
  readonly host: string;
  /** Encoded, beginning with `/`. */
  readonly path: string;
}

interface Service {
  readonly protocol: string;
  readonly host: string;
  readonly hostname: string;
  /** Path in front of every bucket, without a trailing slash. */
  readonly base: string;
}

/** Buckets that may stand in a host name. Dots would break the certificate of a virtual host. */
const hostSafeBucket = /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/;

/** One configured endpoint, or the public ones by region when none is. */
export class S3Endpoint {
  readonly #custom: Service | undefined;
  readonly #forcePathStyle: boolean;

  constructor(endpoint: string | undefined, forcePathStyle: boolean, key: string) {
    this.#forcePathStyle = forcePathStyle;
    if (endpoint === undefined || endpoint === '') return;
    const url = URL.parse(endpoint);
    if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
      throw new BlockError('configuration', `${key} "${endpoint}" is not an http:// or https:// URL`);
    }
    const { protocol, host, hostname, pathname } = url;
    this.#custom = { protocol, host, hostname, base: pathname.replace(/\/+$/, '') };
  }

  get isPlainHttp(): boolean {
    return this.#custom?.protocol === 'http:';
  }

  locate(region: string, bucket: string, key = ''): S3Location {
    const { protocol, host, hostname, base } = this.#service(region);
    const encoded = sigV4Encode(key, 'keep');
    if (
      this.#forcePathStyle ||
      !hostSafeBucket.test(bucket) ||
      isIP(hostname.replaceAll(/[[\]]/g, '')) !== 0
    ) {
      const path = `${base}/${sigV4Encode(bucket, 'encode')}${encoded === '' ? '' : `/${encoded}`}`;
      return { origin: `${protocol}//${host}`, host, path };
    }
    const virtual = `${bucket}.${host}`;
    return { origin: `${protocol}//${virtual}`, host: virtual, path: `${base}/${encoded}` };
  }

  #service(region: string): Service {
    if (this.#custom !== undefined) return this.#custom;
    const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
    return { protocol: 'https:', host, hostname: host, base: '' };
  }
}
