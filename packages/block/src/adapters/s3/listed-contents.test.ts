import { expect, test } from 'vitest';
import { childText, requireXml } from '../../remote/xml.ts';
import { cutContents } from './listed-contents.ts';

const page = (inside: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">` +
  `<Name>bucket</Name><IsTruncated>false</IsTruncated>${inside}<MaxKeys>1000</MaxKeys></ListBucketResult>`;

const object = (key: string, more = ''): string =>
  `<Contents><Key>${key}</Key><LastModified>2026-01-02T03:04:05.678Z</LastModified>` +
  `<ETag>&quot;e&quot;</ETag><Size>12</Size>${more}<StorageClass>STANDARD</StorageClass></Contents>`;

/** What the parser finds. */
function parsed(text: string) {
  const contents = requireXml(text, 'ListBucketResult').children.filter(({ name }) => name === 'Contents');
  return contents.map((each) => ({
    key: childText(each, 'Key') ?? '',
    etag: childText(each, 'ETag') ?? '',
    size: childText(each, 'Size') ?? '',
    lastModified: childText(each, 'LastModified'),
  }));
}

test.each([
  ['one', page(object('a'))],
  ['several', page(object('a') + object('b%2Fc+d'))],
  ['indented', page(`\n  ${object('a')}\n  ${object('b')}\n`.replaceAll('><', '>\n\t<'))],
  [
    'with owners, restores and empty elements',
    page(object('a', '<Owner><ID>i</ID><Key>x</Key></Owner><Restore/>')),
  ],
  ['quoted in another way', page(object('a').replace('&quot;e&quot;', '"e"'))],
  ['with half a quote', page(object('a').replace('&quot;e&quot;', '&quot;e'))],
  ['with quotes inside', page(object('a').replace('&quot;e&quot;', '&quot;e&quot;f&#34;'))],
  ['escaped', page(object('&lt;a&amp;b&gt;&#34;&#x27;&apos;&quot;&#128512;'))],
  ['beside folders', page(`${object('a')}<CommonPrefixes><Prefix>p/</Prefix></CommonPrefixes>`)],
  ['without a time', page('<Contents><Key>a</Key><Size>1</Size></Contents>')],
  ['named so', page(object('Contents')).replace('<Name>bucket', '<Name>Contents')],
  ['from Go', page(object('a').replaceAll('&quot;', '&#34;'))],
])('%s: the same as the parser finds, and the rest is as it was', (_, text) => {
  const cut = cutContents(text);
  expect(cut?.contents()).toEqual(parsed(text));
  const rest = requireXml(cut?.rest ?? '', 'ListBucketResult');
  const others = requireXml(text, 'ListBucketResult').children.filter(({ name }) => name !== 'Contents');
  expect(rest.children).toEqual(others);
});

test.each([
  ['none', page('')],
  ['not closed', page('<Contents><Key>a</Key>')],
  ['a key that is not closed', page('<Contents><Key>a</Contents>')],
  ['no key', page('<Contents><Size>1</Size></Contents>')],
  ['attributes', page('<Contents a="b"><Key>a</Key></Contents>')],
  ['attributes of a part', page('<Contents><Key a="b">a</Key></Contents>')],
  ['prefixes', page('<s:Contents><s:Key>a</s:Key></s:Contents>')],
  ['something between them', page(`${object('a')}<Other/>${object('b')}`)],
  ['character data', page('<Contents><Key><![CDATA[a]]></Key></Contents>')],
  ['a comment', page(`<!-- ${object('a')} -->${object('b')}`)],
  ['text beside the parts', page('<Contents>x<Key>a</Key></Contents>')],
  ['an unknown character', page(object('&nbsp;'))],
  ['a bare ampersand', page(object('a&b'))],
  ['a character that does not exist', page(object('&#x110000;'))],
  ['half a character', page(object('&#xd83d;'))],
  ['an element in a key', page(object('<b>a</b>'))],
  ['a line end that a parser changes', page(object('a\r\nb'))],
])('%s: left to the parser', (_, text) => {
  expect(cutContents(text)?.contents()).toBeUndefined();
});

test.each([
  '<NextContinuationToken>t</NextContinuationToken>',
  '<IsTruncated>true</IsTruncated>',
  '<x:IsTruncated>true</x:IsTruncated>',
])('%s among the objects is not missed', (text) => {
  expect(cutContents(page(object('a') + text + object('b')))).toBeUndefined();
  expect(cutContents(page(`${object('a')}${object('b')}${text}`))?.rest).toContain(text);
});
