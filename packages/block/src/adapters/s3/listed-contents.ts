/** What a listing says of an object. */
export interface ListedContents {
  readonly key: string;
  readonly etag: string;
  readonly size: string;
  readonly lastModified: string | undefined;
}

interface TakenContents {
  readonly contents: readonly ListedContents[];
  /** The listing without them. */
  readonly rest: string;
}

const opening = '<Contents>';
const closing = '</Contents>';

/**
 * Takes the objects out of the text of a listing, a thousand of a page and most of it: a general parser would take longer
 * for them than the store does. Undefined when they are not written as plainly as services write them, or not at all; then
 * it is for the parser to say what is there.
 */
export function takeContents(text: string): TakenContents | undefined {
  const first = text.indexOf(opening);
  // Comments, character data and declarations may hold anything.
  if (first === -1 || text.includes('<!')) return undefined;
  const contents: ListedContents[] = [];
  let at = first;
  while (text.startsWith(opening, at)) {
    const end = text.indexOf(closing, at);
    const object = end === -1 ? undefined : readContents(text, at + opening.length, end);
    if (object === undefined) return undefined;
    contents.push(object);
    at = skipSpace(text, end + closing.length);
  }
  const rest = text.slice(0, first) + text.slice(at);
  // Others stand elsewhere, or are written in another way.
  return /[<:]Contents/.test(rest) ? undefined : { contents, rest };
}

function readContents(text: string, start: number, end: number): ListedContents | undefined {
  let key: string | undefined;
  let etag: string | undefined = '';
  let size: string | undefined = '';
  let lastModified: string | undefined;
  for (let at = skipSpace(text, start); at < end; at = skipSpace(text, at)) {
    const nameEnd = text.indexOf('>', at);
    if (text[at] !== '<' || nameEnd >= end) return undefined;
    const name = text.slice(at + 1, nameEnd);
    if (name.endsWith('/')) {
      at = nameEnd + 1;
      continue;
    }
    const close = text.indexOf(`</${name}>`, nameEnd);
    if (close === -1 || close > end) return undefined;
    const value = (): string | undefined => plainText(text.slice(nameEnd + 1, close));
    if (name === 'Key') key = value();
    else if (name === 'ETag') etag = value();
    else if (name === 'Size') size = value();
    else if (name === 'LastModified') {
      lastModified = value();
      if (lastModified === undefined) return undefined;
    }
    at = close + name.length + 3;
  }
  if (key === undefined || etag === undefined || size === undefined) return undefined;
  return { key, etag, size, lastModified };
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The text of an element without others in it; undefined for what is not plain. */
function plainText(text: string): string | undefined {
  if (!/[&<\r]/.test(text)) return text;
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
  while (text[at] === '\n' || text[at] === ' ' || text[at] === '\t' || text[at] === '\r') at += 1;
  return at;
}
