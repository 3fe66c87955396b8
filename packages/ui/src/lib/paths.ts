/** Orders text as its UTF-8 bytes would be ordered, as the server orders keys. */
export function compareUtf8(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) {
    let a = left.charCodeAt(i);
    let b = right.charCodeAt(i);
    if (a === b) continue;
    // UTF-16 puts surrogates (code points above U+FFFF) before U+E000; UTF-8 puts them last.
    if (a >= 0xd800 && b >= 0xd800) {
      if (a >= 0xe000) a -= 0x800;
      else a += 0x2000;
      if (b >= 0xe000) b -= 0x800;
      else b += 0x2000;
    }
    return a - b;
  }
  return left.length - right.length;
}

/** The part of a path below a folder: `a/b/` in `a/` is `b/`. */
export function nameIn(prefix: string, path: string): string {
  return path.startsWith(prefix) ? path.slice(prefix.length) : path;
}

export function parentOf(path: string): string {
  const trimmed = path.endsWith('/') ? path.slice(0, -1) : path;
  return trimmed.slice(0, trimmed.lastIndexOf('/') + 1);
}

export function baseName(path: string): string {
  return path.slice(parentOf(path).length);
}

export interface Crumb {
  readonly name: string;
  readonly prefix: string;
}

/** Each folder on the way to a path; a last part without `/` is the object itself. */
export function crumbsOf(path: string): Crumb[] {
  const crumbs: Crumb[] = [];
  let start = 0;
  while (start < path.length) {
    const slash = path.indexOf('/', start);
    const end = slash < 0 ? path.length : slash + 1;
    crumbs.push({ name: path.slice(start, slash < 0 ? end : slash), prefix: path.slice(0, end) });
    start = end;
  }
  return crumbs;
}

export function svcUri(repository: string, ref: string, path = ''): string {
  return `svc://${repository}/${ref}/${path}`;
}

export function s3Uri(repository: string, ref: string, path = ''): string {
  return `s3://${repository}/${ref}/${path}`;
}

/** The address of an object's bytes on this server. */
export function objectUrl(repository: string, ref: string, path: string): string {
  return (
    `/api/v1/repositories/${encodeURIComponent(repository)}/refs/${encodeURIComponent(ref)}` +
    `/objects?path=${encodeURIComponent(path)}`
  );
}

/** Resolves a relative link of a document against its place in the repository. */
export function resolvePath(document: string, link: string): string {
  const parts = link.startsWith('/') ? [] : parentOf(document).split('/').slice(0, -1);
  for (const part of link.replace(/^\/+/, '').split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}

/** Longer addresses are refused on the way by some proxies. */
const maxArchiveUrl = 8000;

/** The address of a folder, or of entries of it, as one archive; undefined when the entries are too many to name. */
export function archiveUrl(
  place: { readonly repository: string; readonly ref: string; readonly prefix: string },
  paths: readonly string[] = [],
): string | undefined {
  const query = new URLSearchParams({ prefix: place.prefix });
  for (const path of paths) query.append('path', path);
  const url =
    `/api/v1/repositories/${encodeURIComponent(place.repository)}/refs/${encodeURIComponent(place.ref)}` +
    `/archive?${query.toString()}`;
  return url.length > maxArchiveUrl ? undefined : url;
}
