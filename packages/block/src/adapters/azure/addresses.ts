import type { ObjectPointer } from '../../adapter.ts';
import { canonicalBucketUri, isFullAddress, parseStorageUri } from '../../address.ts';
import { BlockError } from '../../errors.ts';

type Kind = 'invalid_address' | 'invalid_namespace';

/** A blob, or a prefix of blobs, as the service knows it. */
export interface BlobPlace {
  readonly account: string;
  readonly container: string;
  readonly key: string;
}

const accountName = /^[a-z0-9_-]+$/;

/** `https://account.<domain>/container/key` and back. */
export class AzureAddresses {
  readonly #domain: string;

  constructor(domain: string) {
    this.#domain = domain;
  }

  get namespaceRegex(): string {
    return `^https?://[a-z0-9_-]+\\.${this.#domain.replaceAll('.', '\\.')}`;
  }

  get namespaceExample(): string {
    return `https://mystorageaccount.${this.#domain}/mycontainer/`;
  }

  resolve(pointer: ObjectPointer): BlobPlace {
    if (isFullAddress(pointer)) {
      const place = this.#parse(pointer.identifier, 'invalid_address');
      if (place.key !== '') return place;
      throw new BlockError(
        'invalid_address',
        `"${pointer.identifier}" names no blob: expected ${this.#form}/key`,
      );
    }
    if (pointer.identifier === '') throw new BlockError('invalid_address', 'the object address is empty');
    if (pointer.identifier.includes('\\')) refuseBackslash(pointer.identifier, 'invalid_address');
    const { account, container, key: prefix } = this.resolvePrefix(pointer.storageNamespace);
    const key = prefix === '' ? pointer.identifier : `${prefix}/${pointer.identifier}`;
    return { account, container, key };
  }

  /** Of a storage namespace, without one trailing `/`. */
  resolvePrefix(storageNamespace: string): BlobPlace {
    const place = this.#parse(storageNamespace, 'invalid_namespace');
    return { ...place, key: place.key.endsWith('/') ? place.key.slice(0, -1) : place.key };
  }

  /** Of a listing. */
  resolveWalk(uri: string): BlobPlace {
    return this.#parse(uri, 'invalid_address');
  }

  uriOf({ account, container, key }: BlobPlace): string {
    return `https://${account}.${this.#domain}/${container}/${key}`;
  }

  canonical(uri: string): string {
    this.#parse(uri, 'invalid_address');
    return canonicalBucketUri('azure', uri).replace(/^azure:/, 'https:');
  }

  get #form(): string {
    return `https://account.${this.#domain}/container`;
  }

  #parse(text: string, kind: Kind): BlobPlace {
    const uri = parseStorageUri(text);
    if (uri?.type !== 'azure') {
      throw new BlockError(
        kind,
        `"${text}" does not belong to a store of type azure: expected ${this.#form}`,
      );
    }
    const host = uri.host.toLowerCase();
    const account = host.endsWith(`.${this.#domain}`) ? host.slice(0, -this.#domain.length - 1) : '';
    if (!accountName.test(account)) {
      throw new BlockError(kind, `"${text}" is in another cloud: expected ${this.#form}`);
    }
    if (uri.path.includes('\\')) refuseBackslash(text, kind);
    const path = uri.path.slice(1);
    const slash = path.indexOf('/');
    const container = slash < 0 ? path : path.slice(0, slash);
    if (container === '') throw new BlockError(kind, `"${text}" names no container: expected ${this.#form}`);
    return { account, container, key: slash < 0 ? '' : path.slice(slash + 1) };
  }
}

/** The service would take one for a slash, which names another blob. */
function refuseBackslash(text: string, kind: Kind): never {
  throw new BlockError(kind, `"${text}" has a backslash, which Azure cannot keep in a name`);
}
