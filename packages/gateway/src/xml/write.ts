const special = /[&<>"'\p{Cc}\ufffe\uffff]/u;
const specials = /[&<>"'\p{Cc}\ufffe\uffff]/gu;
const names: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Text for an element. Characters XML 1.0 cannot hold become numeric references, as S3 writes them. */
export function escapeXml(text: string): string {
  return special.test(text) ? text.replaceAll(specials, escapeChar) : text;
}

function escapeChar(char: string): string {
  const code = char.charCodeAt(0);
  const allowed = char === '\t' || char === '\n' || (code >= 0x7f && code <= 0x9f);
  return allowed ? char : (names[char] ?? `&#x${code.toString(16).toUpperCase()};`);
}

/** `<name>text</name>`, or nothing when the value is undefined. */
export function element(name: string, value: string | number | boolean | undefined): string {
  return value === undefined ? '' : `<${name}>${escapeXml(String(value))}</${name}>`;
}

const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** A success document; `content` is markup. */
export function document(root: string, content: string): string {
  return `${declaration}<${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${content}</${root}>`;
}

/** `<Error>` has no namespace. */
export function errorDocument(content: string): string {
  return `${declaration}<Error>${content}</Error>`;
}
