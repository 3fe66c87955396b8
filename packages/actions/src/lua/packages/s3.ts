import { createHash } from 'node:crypto';
import { encodeQuery, sigV4Encode } from '@svc/encoding';
import { SaxesParser } from 'saxes';
import { bytesOf, host, hostMany, packageOf, type LuaValue } from '../lua-value.ts';
import { askAws, type AwsAccount, type AwsRequest } from './aws-request.ts';
import type { Ask } from './svc.ts';

type Fields = Readonly<Record<string, string>>;

/** An answer of S3: its text fields, and the fields of each repeated element. */
interface S3Document {
  readonly fields: Fields;
  readonly lists: Readonly<Record<string, readonly Fields[]>>;
}

/** A client of an S3 store with keys of its own. */
export function s3Client(ask: Ask, account: AwsAccount): LuaValue {
  const send = (request: Omit<AwsRequest, 'service'>) => askAws(ask, account, { ...request, service: 's3' });
  const expect = (request: Omit<AwsRequest, 'service'>) => {
    const answer = send(request);
    if (answer.status >= 300) throw s3Error(answer.status, answer.body);
    return answer;
  };
  const pathOf = (bucket: string, key = ''): string =>
    `/${sigV4Encode(bucket, 'encode')}${key === '' ? '' : `/${sigV4Encode(key, 'keep')}`}`;
  const list = (bucket: string, prefix: string, token: string, delimiter: string): S3Document => {
    const pairs: [string, string][] = [
      ['list-type', '2'],
      ['prefix', prefix],
    ];
    if (token !== '') pairs.push(['continuation-token', token]);
    if (delimiter !== '') pairs.push(['delimiter', delimiter]);
    return readXml(expect({ method: 'GET', path: pathOf(bucket), query: encodeQuery(pairs) }).body);
  };
  const deleteMany = (bucket: string, names: readonly string[]): string[] => {
    const body = `<Delete><Quiet>true</Quiet>${names.map((name) => `<Object><Key>${escapeXml(name)}</Key></Object>`).join('')}</Delete>`;
    const md5 = createHash('md5').update(body).digest('base64');
    const request = {
      method: 'POST',
      path: pathOf(bucket),
      query: 'delete=',
      headers: { 'content-md5': md5 },
    };
    const { lists } = readXml(expect({ ...request, body: bytesOf(body) }).body);
    return (lists['Error'] ?? []).map(
      (error) => `${error['Key'] ?? ''}: ${error['Message'] ?? error['Code'] ?? ''}`,
    );
  };
  return packageOf({
    get_object: hostMany((args) => {
      const answer = send({ method: 'GET', path: pathOf(args.text(1), args.text(2)) });
      if (answer.status < 300) return [bytesOf(answer.body), true];
      const error = s3Error(answer.status, answer.body);
      if (answer.status === 404 && error.code !== 'NoSuchBucket') return ['', false];
      throw error;
    }),
    put_object: hostMany((args) => {
      expect({ method: 'PUT', path: pathOf(args.text(1), args.text(2)), body: args.bytes(3) });
      return [];
    }),
    delete_object: hostMany((args) => {
      expect({ method: 'DELETE', path: pathOf(args.text(1), args.text(2)) });
      return [];
    }),
    delete_recursive: hostMany((args) => {
      const [bucket, prefix] = [args.text(1), args.text(2)];
      const problems: string[] = [];
      for (let token = ''; ;) {
        const { fields, lists } = list(bucket, prefix, token, '');
        const names = (lists['Contents'] ?? []).map((object) => object['Key'] ?? '');
        if (names.length > 0) problems.push(...deleteMany(bucket, names));
        token = fields['NextContinuationToken'] ?? '';
        if (fields['IsTruncated'] !== 'true' || token === '') break;
      }
      if (problems.length > 0) throw new Error(problems.join('\n'));
      return [];
    }),
    list_objects: host((args) => {
      const delimiter = args.optionalText(4, '/');
      const { fields, lists } = list(args.text(1), args.optionalText(2), args.optionalText(3), delimiter);
      const results = [
        ...(lists['CommonPrefixes'] ?? []).map((prefix) => ({ key: prefix['Prefix'] ?? '', type: 'prefix' })),
        ...(lists['Contents'] ?? []).map((object) => ({
          key: object['Key'] ?? '',
          type: 'object',
          etag: object['ETag'] ?? '',
          size: Number(object['Size'] ?? 0),
          last_modified: object['LastModified'] ?? '',
        })),
      ].sort((left, right) => Buffer.compare(Buffer.from(right.key), Buffer.from(left.key)));
      return new Map<string, LuaValue>([
        ['is_truncated', fields['IsTruncated'] === 'true'],
        ['next_continuation_token', bytesOf(fields['NextContinuationToken'] ?? '')],
        ['results', results.map((entry) => tableOf(entry))],
      ]);
    }),
  });
}

function tableOf(entry: Readonly<Record<string, string | number>>): LuaValue {
  return new Map(
    Object.entries(entry).map(([key, value]) => [key, typeof value === 'string' ? bytesOf(value) : value]),
  );
}

function escapeXml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
  };
  return text.replaceAll(
    /[&<>"\r\n]/g,
    (character) => entities[character] ?? `&#${character.charCodeAt(0)};`,
  );
}

class S3Failure extends Error {
  override readonly name = 'S3Failure';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

function s3Error(status: number, body: Uint8Array): S3Failure {
  const { fields } = readXml(body);
  const code = fields['Code'] ?? '';
  return new S3Failure(code, `S3 answered ${status} ${code}: ${fields['Message'] ?? ''}`);
}

/** Fields below the root, and the elements below it that have fields of their own. */
function readXml(body: Uint8Array): S3Document {
  const fields: Record<string, string> = {};
  const lists: Record<string, Record<string, string>[]> = {};
  const path: string[] = [];
  let text = '';
  const parser = new SaxesParser();
  parser.on('opentag', ({ name }) => {
    path.push(name);
    text = '';
    if (path.length === 3) lists[path[1] ?? ''] ??= [{}];
  });
  parser.on('text', (piece) => (text += piece));
  parser.on('closetag', ({ name }) => {
    const [, parent = ''] = path;
    if (path.length === 2 && lists[parent] === undefined) fields[name] = text;
    else if (path.length === 2) lists[parent]?.push({});
    else if (path.length === 3) (lists[parent]?.at(-1) ?? {})[name] = text;
    path.pop();
    text = '';
  });
  const xml = Buffer.from(body).toString('utf8');
  try {
    if (xml.trim() !== '') parser.write(xml).close();
  } catch {
    return { fields: { Message: xml.slice(0, 200) }, lists: {} };
  }
  return {
    fields,
    lists: Object.fromEntries(
      Object.entries(lists).map(([name, items]) => [
        name,
        items.filter((item) => Object.keys(item).length > 0),
      ]),
    ),
  };
}
