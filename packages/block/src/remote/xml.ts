import { SaxesParser } from 'saxes';
import { BlockError } from '../errors.ts';

/** An element of a response: its own text and its children by name. */
export interface XmlElement {
  readonly name: string;
  readonly attributes?: Readonly<Record<string, string>>;
  text: string;
  readonly children: XmlElement[];
}

/** Parses a response document; undefined when it is none (an empty body, a proxy's HTML page). */
export function parseXml(text: string): XmlElement | undefined {
  const root: XmlElement = { name: '', text: '', children: [] };
  const open = [root];
  const parser = new SaxesParser();
  let broken = false;
  parser.on('error', () => {
    broken = true;
  });
  parser.on('doctype', () => {
    broken = true;
  });
  parser.on('opentag', ({ name, attributes }) => {
    const element: XmlElement = { name: name.replace(/^.*:/, ''), attributes, text: '', children: [] };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  const addText = (piece: string): void => {
    const element = open.at(-1);
    if (element !== undefined) element.text += piece;
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => {
    open.pop();
  });
  parser.write(text).close();
  return broken ? undefined : root.children[0];
}

/** The text of the first child of that name. */
export function childText(element: XmlElement | undefined, name: string): string | undefined {
  return childOf(element, name)?.text;
}

/** The first child of that name. */
export function childOf(element: XmlElement | undefined, name: string): XmlElement | undefined {
  return element?.children.find((child) => child.name === name);
}

/** The document's root, which must have the expected name. */
export function requireXml(text: string, name: string): XmlElement {
  const root = parseXml(text);
  if (root?.name !== name) {
    throw new BlockError(
      'unavailable',
      `the store answered ${root?.name ?? 'no XML'} where ${name} was expected`,
    );
  }
  return root;
}

// oxlint-disable-next-line no-control-regex
const unwritable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;

/** Whether XML 1.0 can hold the text at all. */
export function fitsXml(text: string): boolean {
  return !unwritable.test(text);
}

export function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"\r\n\t]/g, (character) =>
    character === '&'
      ? '&amp;'
      : character === '<'
        ? '&lt;'
        : character === '>'
          ? '&gt;'
          : `&#${character.charCodeAt(0)};`,
  );
}
