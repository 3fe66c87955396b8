import type { Random } from './random.ts';

const keys = [
  'main/a',
  'main/none',
  'dev/dir/b',
  'nowhere/a',
  'main',
  'main/',
  '',
  '/',
  'main/../x',
  'main/&#x41;',
  'main/&#0;',
  'main/\u0001',
  `main/${'k'.repeat(2000)}`,
  'main/&lt;script&gt;',
  'main/\u{1F600}',
];

/** A document of DeleteObjects. */
export function deleteDocument(random: Random): string {
  if (random.chance(0.25)) return hostileXml(random, 'Delete');
  const objects = Array.from({ length: random.chance(0.05) ? 1001 : random.below(6) }, () => {
    const version = random.chance(0.1) ? '<VersionId>null</VersionId>' : '';
    return `<Object><Key>${random.pick(keys)}</Key>${version}</Object>`;
  });
  const quiet = random.chance(0.2) ? `<Quiet>${random.pick(['true', 'false', 'x', ''])}</Quiet>` : '';
  return `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${quiet}${objects.join('')}</Delete>`;
}

/** A document of CompleteMultipartUpload. */
export function completeDocument(random: Random): string {
  if (random.chance(0.3)) return hostileXml(random, 'CompleteMultipartUpload');
  const parts = Array.from({ length: 1 + random.below(3) }, (_, index) => {
    const number = random.chance(0.7)
      ? String(index + 1)
      : random.pick(['0', '-1', 'x', '', '10001', '1e3', '2147483648']);
    const etag = random.pick(['d41d8cd98f00b204e9800998ecf8427e', '"x"', '&quot;x&quot;', '', '&#0;']);
    return `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag></Part>`;
  });
  return `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
}

/** A document of PutObjectTagging. */
export function taggingDocument(random: Random): string {
  if (random.chance(0.3)) return hostileXml(random, 'Tagging');
  const texts = ['a', '', 'constructor', '__proto__', '\u{1F600}', '&#0;', 'x'.repeat(300), 'aws:x'];
  const tags = Array.from({ length: random.below(13) }, () => {
    return `<Tag><Key>${random.pick(texts)}</Key><Value>${random.pick(texts)}</Value></Tag>`;
  });
  return `<Tagging><TagSet>${tags.join('')}</TagSet></Tagging>`;
}

function hostileXml(random: Random, root: string): string {
  return random.pick([
    '',
    ' ',
    '<',
    '{}',
    `<${root}/>`,
    `<${root}>`,
    `<${root}></Wrong>`,
    `<Wrong></Wrong>`,
    `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><${root}><Object><Key>&e;</Key></Object></${root}>`,
    `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]><${root}>&b;</${root}>`,
    `<${root}>${'<a>'.repeat(5000)}`,
    `<${root}>${'<a>'.repeat(500)}${'</a>'.repeat(500)}</${root}>`,
    `<${root} ${Array.from({ length: 3000 }, (_, index) => `a${index}="x"`).join(' ')}/>`,
    `<${root}>${'<!-- x -->'.repeat(3000)}</${root}>`,
    `<${root}><![CDATA[<Object><Key>main/a</Key></Object>]]></${root}>`,
    `<x:${root} xmlns:x="y"><x:Object><x:Key>main/none</x:Key></x:Object></x:${root}>`,
    `<${root}>&undefined;</${root}>`,
    `\ufeff<?xml version="1.0" encoding="UTF-16"?><${root}/>`,
    `<${root}><Object><Key>a</Key><Key>b</Key></Object><Part/><Part><PartNumber>1</PartNumber></Part></${root}>`,
  ]);
}

/** Headers of an upload, of conditions and of ranges, with lies among them. Lower-case names. */
export function objectHeaders(random: Random, method: string): Record<string, string> {
  const headers: Record<string, string> = {};
  const add = (name: string, probability: number, values: readonly string[]): void => {
    if (random.chance(probability)) headers[name] = random.pick(values);
  };
  const etags = ['*', '"x"', 'x', 'd41d8cd98f00b204e9800998ecf8427e', '', '"', 'W/"x"', '"a","b"'];
  const dates = ['Sun, 06 Nov 1994 08:49:37 GMT', 'Fri, 01 Jan 2100 00:00:00 GMT', 'x', '', '0'];
  add('if-match', 0.06, etags);
  add('if-none-match', 0.08, etags);
  add('if-modified-since', 0.04, dates);
  add('if-unmodified-since', 0.04, dates);
  if (method === 'GET' || method === 'HEAD') {
    add('range', 0.3, [
      'bytes=0-1',
      'bytes=-3',
      'bytes=5-',
      'bytes=9-1',
      'bytes=0-0,2-3',
      'bytes=-0',
      'x',
      'bytes=99999999999999999999-',
    ]);
    add('x-amz-checksum-mode', 0.2, ['ENABLED', 'x']);
    add('x-amz-object-attributes', 0.2, ['ETag,Checksum,ObjectParts,StorageClass,ObjectSize', 'x', ',']);
    add('x-amz-max-parts', 0.05, ['0', '1', '-1', 'x']);
    return headers;
  }
  add('content-type', 0.4, [
    'text/plain',
    'text/html',
    'x',
    '',
    'a/b; c="\u00e9"',
    'application/x-www-form-urlencoded',
  ]);
  add('content-encoding', 0.08, ['gzip', 'aws-chunked', 'aws-chunked,gzip', '', 'x'.repeat(300)]);
  add('content-disposition', 0.05, ['attachment; filename="x"', 'a\tb', '\u00ff']);
  add('cache-control', 0.05, ['no-store', '']);
  add('expires', 0.05, dates);
  add('content-language', 0.05, ['de', '']);
  add('content-md5', 0.04, ['AAAAAAAAAAAAAAAAAAAAAA==', 'x', '']);
  add('x-amz-meta-a', 0.1, ['b', '', '\u00e9', '=?UTF-8?Q?=C3=A9?=', '=?UTF-8?B?////?=', 'x'.repeat(3000)]);
  add('x-amz-meta-b', 0.01, ['x'.repeat(70_000)]);
  add('x-amz-meta-', 0.03, ['b']);
  add('x-amz-acl', 0.04, ['private', 'public-read', 'x']);
  add('x-amz-tagging', 0.03, ['a=b', '%zz', '=']);
  add('x-amz-storage-class', 0.03, ['STANDARD', 'GLACIER', 'x']);
  add('x-amz-checksum-crc32', 0.04, ['AAAAAA==', 'x', '']);
  add('x-amz-checksum-sha256', 0.03, ['x', `${'A'.repeat(43)}=`]);
  add('x-amz-sdk-checksum-algorithm', 0.03, ['CRC32', 'x']);
  add('x-amz-checksum-algorithm', 0.05, ['CRC32', 'CRC64NVME', 'SHA256', 'XXHASH3', 'x']);
  add('x-amz-checksum-type', 0.05, ['FULL_OBJECT', 'COMPOSITE', 'x']);
  add('x-amz-tagging-directive', 0.03, ['COPY', 'REPLACE', 'x']);
  add('x-amz-server-side-encryption', 0.03, ['AES256', 'x']);
  add('x-amz-metadata-directive', 0.05, ['COPY', 'REPLACE', 'x', '']);
  add('x-amz-copy-source-range', 0.04, ['bytes=0-1', 'bytes=5-1', 'x', 'bytes=0-99999999999']);
  add('x-amz-copy-source-if-match', 0.03, etags);
  add('x-amz-object-lock-mode', 0.02, ['GOVERNANCE']);
  return headers;
}
