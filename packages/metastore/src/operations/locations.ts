import { MetastoreError } from '../metastore-error.ts';

/** Where a copied table finds its data. */
export type Relocate = (location: string) => string;

interface Location {
  readonly scheme: string;
  readonly host: string;
  /** Without the slash in front. */
  readonly path: string;
}

/** `scheme://repository/ref/path` on another branch. */
export function onBranch(branch: string, dbfsRoot?: string): Relocate {
  return (location) => {
    const { scheme, host, path } = parse(location, dbfsRoot);
    const { rest } = splitRef(location, path);
    return `${scheme}://${host}/${branch}${rest}`;
  };
}

/** `scheme://bucket/path` in a repository that the bucket was imported to. */
export function inRepository(repository: string, branch: string, dbfsRoot?: string): Relocate {
  return (location) => {
    const { scheme, path } = parse(location, dbfsRoot);
    return `${scheme}://${repository}/${branch}/${path.replace(/^\/+/, '')}`;
  };
}

/** `scheme://repository/ref/path` among the symlink files that the server has written below `root` for a branch. */
export function amongSymlinks(root: string, repository: string, branch: string): Relocate {
  return (location) => {
    const { host, path } = parse(location, undefined);
    const { ref, rest } = splitRef(location, path);
    if (host !== repository || ref !== branch) {
      throw new MetastoreError(
        'invalid',
        `${location} is not on branch ${branch} of repository ${repository}, for which symlinks are made`,
      );
    }
    return `${root.replace(/\/+$/, '')}/${host}/${ref}${rest}`;
  };
}

/** A branch and a repository become parts of a location: they must be names of such. */
export function isBranchName(name: string): boolean {
  return /^\w[-\w]*$/.test(name);
}

export function isRepositoryName(name: string): boolean {
  return /^[a-z0-9][a-z0-9-]{2,62}$/.test(name);
}

/** Says whether a location can be relocated at all. */
export function isRelocatable(location: string): boolean {
  return locationPattern.test(location) && !clusterScheme.test(location);
}

const locationPattern = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/]+)(?:\/(.*))?$/s;
/** Hosts of these are servers, not repositories or buckets. */
const clusterScheme = /^(?:hdfs|viewfs|webhdfs|har):/i;

function parse(location: string, dbfsRoot: string | undefined): Location {
  const address =
    dbfsRoot === undefined || !location.startsWith('dbfs:/')
      ? location
      : `${dbfsRoot.replace(/\/+$/, '')}/${location.slice('dbfs:/'.length).replace(/^\/+/, '')}`;
  const match = isRelocatable(address) ? locationPattern.exec(address) : null;
  const [, scheme, host, path = ''] = match ?? [];
  if (scheme === undefined || host === undefined) {
    const hint = location.startsWith('dbfs:/') && dbfsRoot === undefined ? ' (use --dbfs-root)' : '';
    throw new MetastoreError(
      'invalid',
      `location "${location}" cannot be moved: expected scheme://name/path in an object store${hint}`,
    );
  }
  return { scheme, host, path };
}

function splitRef(location: string, path: string): { ref: string; rest: string } {
  const at = path.indexOf('/');
  const ref = at < 0 ? path : path.slice(0, at);
  if (ref === '') {
    throw new MetastoreError(
      'invalid',
      `location "${location}" names no ref: expected scheme://repository/ref/path`,
    );
  }
  return { ref, rest: at < 0 ? '' : path.slice(at) };
}
