import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import type { ObjectPointer } from '../../adapter.ts';
import { isFullAddress, requireStorageUri } from '../../address.ts';
import { BlockError } from '../../errors.ts';

/** Folders of our own directly below the root; no address may name anything in them. */
export const multipartFolder = '.svc-multipart';
export const temporaryFolder = '.svc-tmp';

/** How long a folder's real location is believed before its symbolic links are resolved again. */
const verifiedForMs = 1000;
const verifiedLimit = 10_000;

const namespaceLimit = 1000;

/** Names of ours, as they are: no step in a path, no empty element, nothing to normalize. */
const plainIdentifier = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/;

/** The same of a file anywhere. */
const plainAddress = /^local:\/\/(?:\/[\w-][\w.-]*)+$/;

type Location = 'root' | 'external';

/** The path rules: which file an address names, and that it lies where the store may look. */
export class LocalPaths {
  readonly root: string;
  readonly #realRoot: string;
  readonly #external: readonly string[];
  readonly #verified = new Map<string, { readonly location: Location; readonly until: number }>();
  readonly #namespaces = new Map<string, string>();

  /** `root` must exist. */
  constructor(root: string, allowedExternalPrefixes: readonly string[]) {
    this.root = root;
    this.#realRoot = realpathSync.native(root);
    this.#external = allowedExternalPrefixes.map((prefix) => {
      if (!prefix.startsWith('/') || trimSlash(normalize(prefix)) !== trimSlash(prefix)) {
        throw new BlockError(
          'configuration',
          `allowed external prefix "${prefix}" must be an absolute path without "..", "." or "//"`,
        );
      }
      return trimSlash(prefix);
    });
  }

  /** The file of an object, by the rules on text alone. */
  locate(pointer: ObjectPointer): string {
    if (isFullAddress(pointer)) return this.#locateFull(pointer.identifier);
    const folder = this.namespaceFolder(pointer.storageNamespace);
    if (plainIdentifier.test(pointer.identifier)) return `${folder}/${pointer.identifier}`;
    refuseNul(pointer.identifier, 'invalid_address');
    const path = trimSlash(join(folder, pointer.identifier));
    if (!isInside(path, folder)) throw traversal('invalid_address', pointer.identifier);
    return path;
  }

  #locateFull(identifier: string): string {
    if (plainAddress.test(identifier)) {
      const path = identifier.slice('local://'.length);
      this.#refuseOutside(path);
      return path;
    }
    refuseNul(identifier, 'invalid_address');
    const uri = requireStorageUri('local', identifier, 'invalid_address');
    if (
      uri.host !== '' ||
      uri.path.length < 2 ||
      uri.path.endsWith('/') ||
      normalize(uri.path) !== uri.path
    ) {
      throw new BlockError(
        'invalid_address',
        `bad path "${identifier}": expected local:// and an absolute path without "..", "." or "//" and no "/" at its end`,
      );
    }
    this.#refuseOutside(uri.path);
    return uri.path;
  }

  #refuseOutside(path: string): void {
    if (isInside(path, this.root) && path !== this.root) this.#refuseReserved(path, this.root);
    else if (!this.#external.some((prefix) => isInside(path, prefix))) throw outside(path);
  }

  #refuseReserved(path: string, root: string): void {
    const end = path.indexOf('/', root.length + 1);
    const first = path.slice(root.length + 1, end < 0 ? undefined : end).toLowerCase();
    if (first === multipartFolder || first === temporaryFolder) {
      throw new BlockError(
        'forbidden',
        `"${first}" is the store's own folder: nothing in it can be addressed`,
      );
    }
  }

  /** The folder of a namespace, strictly below the root. */
  namespaceFolder(storageNamespace: string): string {
    let folder = this.#namespaces.get(storageNamespace);
    if (folder === undefined) {
      folder = this.#findNamespace(storageNamespace);
      if (this.#namespaces.size >= namespaceLimit) this.#namespaces.clear();
      this.#namespaces.set(storageNamespace, folder);
    }
    return folder;
  }

  #findNamespace(storageNamespace: string): string {
    refuseNul(storageNamespace, 'invalid_namespace');
    const uri = requireStorageUri('local', storageNamespace, 'invalid_namespace');
    if (uri.host === '') {
      throw new BlockError('invalid_namespace', `"${storageNamespace}" has no name: expected local://name`);
    }
    const folder = trimSlash(join(this.root, uri.host + uri.path));
    if (folder === this.root || !isInside(folder, this.root)) {
      throw traversal('invalid_namespace', storageNamespace);
    }
    this.#refuseReserved(folder, this.root);
    return folder;
  }

  /** Folder and name prefix of a walk: `local:///absolute/prefix` or `local://namespace/prefix`. */
  locateWalk(text: string): { readonly folder: string; readonly prefix: string } {
    refuseNul(text, 'invalid_address');
    const uri = requireStorageUri('local', text, 'invalid_address');
    const path = uri.host === '' ? uri.path : `${this.root}/${uri.host}${uri.path}`;
    const cut = path.lastIndexOf('/');
    const folder = path.slice(0, cut);
    const prefix = path.slice(cut + 1);
    if (folder === '' || normalize(folder) !== folder || prefix === '..' || prefix === '.') {
      if (uri.host !== '') throw traversal('invalid_address', text);
      throw new BlockError(
        'invalid_address',
        `bad path "${text}": expected an absolute path without "..", "." or "//"`,
      );
    }
    if (folder !== this.root) this.#refuseOutside(folder);
    else if (uri.host === '' && prefix !== '') this.#refuseOutside(path);
    this.#verifyFolder(folder, 'read');
    return { folder, prefix };
  }

  /** What a real path is called below the root; undefined outside of it. */
  nameOf(real: string): string | undefined {
    return real.startsWith(`${this.#realRoot}/`) ? real.slice(this.#realRoot.length + 1) : undefined;
  }

  /** Our own folders, which walks leave out. */
  get reserved(): readonly string[] {
    return [multipartFolder, temporaryFolder].map((name) => `${this.root}/${name}`);
  }

  /**
   * Refuses a file whose folder, with symbolic links resolved, lies outside. The file itself may still be a link:
   * open it without following and ask `followLink` when it is one.
   */
  verify(path: string, access: 'read' | 'write'): void {
    this.#verifyFolder(dirname(path), access);
  }

  /** The real path behind a symbolic link, refused when it lies outside. */
  followLink(path: string): string {
    const real = realpathSync.native(path);
    this.#classify(real);
    return real;
  }

  #verifyFolder(folder: string, access: 'read' | 'write'): void {
    const now = performance.now();
    let entry = this.#verified.get(folder);
    if (entry === undefined || entry.until < now) {
      entry = { location: this.#classify(resolveExisting(folder)), until: now + verifiedForMs };
      if (this.#verified.size >= verifiedLimit) this.#verified.clear();
      this.#verified.set(folder, entry);
    }
    if (access === 'write' && entry.location !== 'root') {
      throw new BlockError(
        'forbidden',
        `"${folder}" lies outside the store's folder, where nothing is ever written`,
      );
    }
  }

  /** Forgets what was verified of a folder, after it was created or found gone. */
  forget(folder: string): void {
    this.#verified.delete(folder);
  }

  #classify(real: string): Location {
    if (isInside(real, this.#realRoot)) {
      this.#refuseReserved(real, this.#realRoot);
      return 'root';
    }
    for (const prefix of this.#external) if (isInside(real, resolveExisting(prefix))) return 'external';
    throw outside(real);
  }
}

/** The path with the symbolic links of its existing part resolved. */
export function resolveExisting(path: string): string {
  let existing = path;
  let rest = '';
  for (;;) {
    try {
      return rest === '' ? realpathSync.native(existing) : join(realpathSync.native(existing), rest);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if ((code !== 'ENOENT' && code !== 'ENOTDIR') || existing === '/') throw error;
      if (lstatSync(existing, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
        throw new BlockError('forbidden', `"${existing}" is a symbolic link that leads nowhere`);
      }
      rest = join(basename(existing), rest);
      existing = dirname(existing);
    }
  }
}

/** Whole components: `/a/b` is inside `/a`, `/ab` is not. */
export function isInside(path: string, folder: string): boolean {
  return path.startsWith(folder) && (path.length === folder.length || path[folder.length] === '/');
}

function trimSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

function refuseNul(text: string, kind: 'invalid_address' | 'invalid_namespace'): void {
  if (text.includes('\0')) throw new BlockError(kind, 'bad path: a NUL byte cannot be part of a path');
}

function traversal(kind: 'invalid_address' | 'invalid_namespace', text: string): BlockError {
  return new BlockError(kind, `bad path traversal blocked: "${text}" leaves its folder`);
}

function outside(path: string): BlockError {
  return new BlockError(
    'forbidden',
    `"${path}" is neither below the store's folder nor below one of local.allowed_external_prefixes`,
  );
}
