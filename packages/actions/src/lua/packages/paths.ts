import { Arguments, bytesOf, host, packageOf, textOf, type LuaValue } from '../lua-value.ts';

function parsePath(args: Arguments): LuaValue {
  const separator = args.optionalBytes(2, '/');
  const path = args.bytes(1);
  const trimmed = path.endsWith(separator) ? path.slice(0, -separator.length) : path;
  const at = trimmed.lastIndexOf(separator);
  const cut = at === -1 ? 0 : at + separator.length;
  return new Map([
    ['parent', trimmed.slice(0, cut)],
    ['base_name', trimmed.slice(cut)],
  ]);
}

function joinPath(separator: string, parts: readonly string[]): string {
  return parts
    .map((part, index) => {
      const start = index > 0 && part.startsWith(separator) ? part.slice(separator.length) : part;
      const isLast = index === parts.length - 1;
      return !isLast && start.endsWith(separator) ? start.slice(0, -separator.length) : start;
    })
    .join(separator);
}

function isHidden(args: Arguments): boolean {
  const [separator, prefix] = [args.optionalBytes(2, '/'), args.optionalBytes(3, '_')];
  return args
    .bytes(1)
    .split(separator)
    .some((part) => part !== '' && part.startsWith(prefix));
}

function dirName(path: string): string {
  const at = path.lastIndexOf('/');
  return at === -1 ? '.' : at === 0 ? '/' : path.slice(0, at);
}

function parseUrl(text: string): LuaValue {
  const found = /^(?:([A-Za-z][\w+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(text);
  if (found === null) throw new TypeError('the URL cannot be read');
  const [, scheme = '', authority = '', path = '', query = '', fragment = ''] = found;
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const fields = {
    scheme: scheme.toLowerCase(),
    host,
    path: decode(path),
    query,
    fragment: decode(fragment),
  };
  return new Map(Object.entries(fields).map(([key, value]) => [key, bytesOf(value)]));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new TypeError(`invalid URL escape in ${JSON.stringify(text)}`);
  }
}

function buildUrl(args: Arguments): string {
  const [scheme, hostName, path] = [args.text(1), args.text(2), args.optionalText(3)];
  const [query, fragment] = [args.optionalText(4), args.optionalText(5)];
  const slash = hostName !== '' && path !== '' && !path.startsWith('/') ? '/' : '';
  const shownPath = path.split('/').map(escapePathPart).join('/');
  return bytesOf(
    `${scheme}://${hostName}${slash}${shownPath}${query === '' ? '' : `?${query}`}${fragment === '' ? '' : `#${encodeURIComponent(fragment)}`}`,
  );
}

/** What may stand in a path besides letters and digits. */
function escapePathPart(part: string): string {
  return encodeURIComponent(part).replaceAll(/%(?:24|26|2B|2C|3A|3B|3D|40)/g, (code) =>
    decodeURIComponent(code),
  );
}

export const pathPackages: Readonly<Record<string, () => LuaValue>> = {
  path: () =>
    packageOf({
      parse: host(parsePath),
      join: (values) => {
        const args = new Arguments(values);
        const parts = values.slice(1).map((_, index) => args.bytes(index + 2));
        return [joinPath(args.bytes(1), parts)];
      },
      is_hidden: host(isHidden),
      default_separator: host(() => '/'),
      extract_dir_name: host((args) => dirName(args.bytes(1))),
    }),
  'net/url': () =>
    packageOf({
      parse: host((args) => parseUrl(args.text(1))),
      build_url: host(buildUrl),
      query_unescape: host((args) => bytesOf(decode(args.text(1).replaceAll('+', ' ')))),
      path_escape: host((args) =>
        bytesOf(escapePathPart(textOf(args.bytes(1))).replaceAll(/[,;]/g, encodeURIComponent)),
      ),
    }),
};
