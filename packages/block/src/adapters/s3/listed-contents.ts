/** What a listing says of an object. */
export interface ListedContents {
  readonly key: string;
  readonly etag: string;
  readonly size: string;
  readonly lastModified: string | undefined;
}

interface CutListing {
  /** The listing without its objects. */
  readonly rest: string;
  /** The objects; undefined when it is for a parser to say what there is, which finds the same `rest`. */
  contents(): readonly ListedContents[] | undefined;
}

const lessThan = 0x3c;
const slash = 0x2f;
const greaterThan = 0x3e;
const opening = '<Contents>';
const closing = '</Contents>';
/** What says how a listing goes on. */
const others = ['IsTruncated>', 'NextContinuationToken>', 'EncodingType>'];

/**
 * Cuts the objects out of the text of a listing, a thousand of a page and most of it: a general parser would take longer
 * for them than the store does. They are read when they are asked for: pages often wait, and the collector would copy
 * their objects again and again meanwhile. Undefined when they do not lie together as services write them, or there are none.
 */
export function cutContents(text: string): CutListing | undefined {
  const start = text.indexOf(opening);
  // Comments, character data and declarations may hold anything.
  if (start === -1 || text.includes('<!')) return undefined;
  const end = text.lastIndexOf(closing) + closing.length;
  const rest = text.slice(0, start) + text.slice(end);
  // Some objects stand elsewhere or are written in another way, or there is something else among them.
  if (/[<:]Contents/.test(rest) || others.some((other) => isBetween(text, other, start, end)))
    return undefined;
  return { rest, contents: () => readAll(text, start, end) };
}

function isBetween(text: string, what: string, start: number, end: number): boolean {
  const at = text.indexOf(what, start);
  return at !== -1 && at < end;
}

function readAll(text: string, start: number, end: number): readonly ListedContents[] | undefined {
  const contents: ListedContents[] = [];
  for (let at = start; at < end;) {
    if (!text.startsWith(opening, at)) return undefined;
    const close = text.indexOf(closing, at);
    const object = readContents(text, at + opening.length, close);
    if (object === undefined) return undefined;
    contents.push(object);
    at = skipSpace(text, close + closing.length);
  }
  return contents;
}

function readContents(text: string, start: number, end: number): ListedContents | undefined {
  let key: string | undefined;
  let etag: string | undefined = '';
  let size: string | undefined = '';
  let lastModified: string | undefined;
  for (let at = skipSpace(text, start); at < end; at = skipSpace(text, at)) {
    const nameEnd = text.indexOf('>', at);
    if (text.charCodeAt(at) !== lessThan || nameEnd >= end) return undefined;
    const name = text.slice(at + 1, nameEnd);
    if (text.charCodeAt(nameEnd - 1) === slash) {
      at = nameEnd + 1;
      continue;
    }
    const close = closingOf(text, name, nameEnd + 1);
    if (close === -1 || close > end) return undefined;
    if (name === 'Key') key = plainText(text.slice(nameEnd + 1, close));
    else if (name === 'ETag') etag = plainText(text.slice(nameEnd + 1, close));
    else if (name === 'Size') size = plainText(text.slice(nameEnd + 1, close));
    else if (name === 'LastModified') {
      lastModified = plainText(text.slice(nameEnd + 1, close));
      if (lastModified === undefined) return undefined;
    }
    at = close + name.length + 3;
  }
  if (key === undefined || etag === undefined || size === undefined) return undefined;
  return { key, etag, size, lastModified };
}

/** Where the closing tag of the element begins that has `from` inside. Nearly all of them hold text alone. */
function closingOf(text: string, name: string, from: number): number {
  const next = text.indexOf('<', from);
  const isIts =
    text.charCodeAt(next + 1) === slash &&
    text.charCodeAt(next + 2 + name.length) === greaterThan &&
    text.startsWith(name, next + 2);
  return isIts ? next : text.indexOf(`</${name}>`, from);
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The text of an element without others in it; undefined for what is not plain. */
function plainText(text: string): string | undefined {
  if (!text.includes('&')) return /[<\r]/.test(text) ? undefined : text;
  // Every ETag is in quotes, which most services escape.
  const [, quoted] = /^&(?:#34|quot);([^&<\r]*)&(?:#34|quot);$/.exec(text) ?? [];
  if (quoted !== undefined) return `"${quoted}"`;
  if (/[<\r]/.test(text)) return undefined;
  let isPlain = true;
  const decoded = text.replaceAll(/&([^;]*)(;?)/g, (_, name: string, end: string) => {
    const character = end === '' ? undefined : (named[name] ?? numbered(name));
    if (character === undefined) isPlain = false;
    return character ?? '';
  });
  return isPlain ? decoded : undefined;
}

function numbered(name: string): string | undefined {
  const [, decimal, hexadecimal] = /^#(?:(\d{1,7})|x([0-9a-fA-F]{1,6}))$/.exec(name) ?? [];
  const code = decimal === undefined ? parseInt(hexadecimal ?? '', 16) : Number(decimal);
  const isCharacter = (code >= 0x20 && code < 0xd800) || (code >= 0xe000 && code <= 0x10ffff);
  return isCharacter ? String.fromCodePoint(code) : undefined;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at += 1;
  }
}
