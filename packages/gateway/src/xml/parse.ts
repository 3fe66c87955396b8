import { isUtf8 } from 'node:buffer';
import { SaxesParser } from 'saxes';
import { S3Error } from '../errors/s3-error.ts';

/** An element of a request document; names lose their namespace prefix. */
export interface XmlElement {
  readonly name: string;
  readonly children: XmlElement[];
  text: string;
}

const maxDepth = 16;

/** Parses a request document. DTDs are refused, so no entity can be declared. */
export function parseXml(bytes: Buffer, rootName: string): XmlElement {
  if (!isUtf8(bytes)) throw new S3Error('MalformedXML');
  const parser = new SaxesParser();
  const open: XmlElement[] = [];
  const found: { root?: XmlElement } = {};
  parser.on('error', (error) => {
    throw new S3Error('MalformedXML', undefined, { cause: error });
  });
  parser.on('doctype', () => {
    throw new S3Error('MalformedXML', 'A document type declaration is not allowed.');
  });
  parser.on('opentag', (tag) => {
    const parsed: XmlElement = { name: tag.name.slice(tag.name.indexOf(':') + 1), children: [], text: '' };
    const parent = open.at(-1);
    if (parent === undefined) found.root = parsed;
    else parent.children.push(parsed);
    open.push(parsed);
    if (open.length > maxDepth) throw new S3Error('MalformedXML');
  });
  const onText = (text: string): void => {
    const current = open.at(-1);
    if (current !== undefined) current.text += text;
  };
  parser.on('text', onText);
  parser.on('cdata', onText);
  parser.on('closetag', () => {
    open.pop();
  });
  parser.write(bytes.toString('utf8').replace(/^\ufeff/, '')).close();
  if (found.root?.name !== rootName) throw new S3Error('MalformedXML');
  return found.root;
}

export function childText(parent: XmlElement, name: string): string | undefined {
  return parent.children.find((child) => child.name === name)?.text;
}
