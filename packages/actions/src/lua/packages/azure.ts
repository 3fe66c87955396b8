import { createHmac } from 'node:crypto';
import { bytesOf, host, hostMany, packageOf, type LuaValue } from '../lua-value.ts';
import type { Ask } from './svc.ts';

const version = '2023-11-03';
const timeoutMs = 60_000;
const blobUrl = /^https:\/\/([^./]+)\.(?:blob|adls)\.core\.windows\.net\/([^/]+)\/(.*)$/;

export function azurePackage(ask: Ask): LuaValue {
  return packageOf({
    blob_client: host((args) => blobClient(ask, args.text(1), args.text(2))),
    abfss_transform_path: host((args) => {
      const address = args.text(1);
      const [, account, container, path] = blobUrl.exec(address) ?? [];
      if (account === undefined || container === undefined || path === undefined)
        throw new TypeError(`not an address of Azure Blob Storage: ${address}`);
      return bytesOf(`abfss://${container}@${account}.dfs.core.windows.net/${path}`);
    }),
  });
}

/** A client of a storage account with its key; objects are named `container/key`. */
function blobClient(ask: Ask, account: string, accessKey: string): LuaValue {
  const send = (method: string, name: string, body?: string) => {
    const path = `/${name.split('/').map(encodeURIComponent).join('/')}`;
    const headers: Record<string, string> = {
      'x-ms-date': new Date().toUTCString(),
      'x-ms-version': version,
      ...(method === 'PUT' ? { 'x-ms-blob-type': 'BlockBlob' } : {}),
    };
    const length = body === undefined || body === '' ? '' : String(body.length);
    const signature = signatureOf({ account, accessKey, method, path, length, headers });
    return ask({
      kind: 'http',
      url: `https://${account}.blob.core.windows.net${path}`,
      method,
      headers: {
        ...headers,
        authorization: `SharedKey ${account}:${signature}`,
        ...(method === 'PUT' && length === '' ? { 'content-length': '0' } : {}),
      },
      body,
      timeoutMs,
    });
  };
  const expect = (answer: ReturnType<Ask>, name: string): void => {
    if (answer.status >= 300) throw new Error(`${name}: HTTP ${answer.status} ${codeOf(answer.body)}`.trim());
  };
  return packageOf({
    get_object: hostMany((args) => {
      const answer = send('GET', args.text(1));
      if (answer.status === 404 && codeOf(answer.body) !== 'ContainerNotFound') return ['', false];
      expect(answer, args.text(1));
      return [bytesOf(answer.body), true];
    }),
    put_object: hostMany((args) => {
      expect(send('PUT', args.text(1), args.bytes(2)), args.text(1));
      return [];
    }),
    delete_object: hostMany((args) => {
      expect(send('DELETE', args.text(1)), args.text(1));
      return [];
    }),
  });
}

/** The text that is signed names every header by its place; those we do not send are empty. */
function signatureOf(request: {
  readonly account: string;
  readonly accessKey: string;
  readonly method: string;
  readonly path: string;
  readonly length: string;
  readonly headers: Readonly<Record<string, string>>;
}): string {
  const { account, accessKey, method, path, length, headers } = request;
  const named = Object.keys(headers)
    .toSorted()
    .map((name) => `${name}:${headers[name] ?? ''}\n`);
  const text = `${method}\n\n\n${length}\n\n\n\n\n\n\n\n\n${named.join('')}/${account}${path}`;
  return createHmac('sha256', Buffer.from(accessKey, 'base64')).update(text, 'utf8').digest('base64');
}

function codeOf(body: Uint8Array): string {
  return /<Code>([^<]*)<\/Code>/.exec(Buffer.from(body).toString('utf8'))?.[1] ?? '';
}
