import type { Client } from '@svc/client';
import { CliError } from '../errors.ts';
import { refusalOf } from './refusal.ts';
import { readAll, type HttpRequest, type HttpResponse } from './http-sender.ts';
import { isOnceOnly } from './retry-policy.ts';

type Send = (request: Omit<HttpRequest, 'url'> & { readonly path: string }) => Promise<HttpResponse>;

interface Init {
  readonly params?: {
    readonly path?: Readonly<Record<string, unknown>>;
    readonly query?: Readonly<Record<string, unknown>>;
    readonly header?: Readonly<Record<string, unknown>>;
  };
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** The calls of the typed client that move JSON; object data has its own way. */
export type ApiClient = Omit<Client, 'objects'>;

/**
 * The typed client over our own sender. The platform's fetch would do, but loading it costs every command more
 * processor time than all of its own work.
 */
export function createApiClient(send: Send): ApiClient {
  const call =
    (method: string) =>
    async (path: string, init?: Init): Promise<unknown> =>
      (await exchange(send, method, path, init ?? {})).data;
  const calls = {
    get: call('GET'),
    post: call('POST'),
    put: call('PUT'),
    patch: call('PATCH'),
    delete: call('DELETE'),
    getWithHeaders: async (path: string, init?: Init): Promise<unknown> => {
      const { data, answer } = await exchange(send, 'GET', path, init ?? {});
      const headers = new Headers();
      for (const [name, value] of Object.entries(answer.headers)) headers.set(name, String(value));
      return { data, headers };
    },
  };
  // Paths, parameters and answers are typed by the interface; here they are all alike.
  return calls as unknown as ApiClient;
}

async function exchange(
  send: Send,
  method: string,
  template: string,
  init: Init,
): Promise<{ data: unknown; answer: HttpResponse }> {
  const path = fillPath(template, init.params?.path ?? {});
  const headers: Record<string, string> = { accept: 'application/json' };
  for (const [name, value] of Object.entries(init.params?.header ?? {})) {
    if (value !== undefined) headers[name.toLowerCase()] = textOf(value);
  }
  if (init.body !== undefined) headers['content-type'] = 'application/json';
  const answer = await send({
    method,
    path: path + queryOf(init.params?.query ?? {}),
    headers,
    body: init.body === undefined ? undefined : Buffer.from(JSON.stringify(init.body)),
    once: isOnceOnly(method, path),
    signal: init.signal,
  });
  if (answer.status < 200 || answer.status >= 300) throw await refusalOf(answer);
  return { data: decode(await readAll(answer.stream), answer), answer };
}

function fillPath(template: string, values: Readonly<Record<string, unknown>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(textOf(values[name])),
  );
}

function queryOf(values: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const item of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (item !== undefined) query.append(name, textOf(item));
    }
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
}

/** Parameters are strings, numbers and booleans. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function decode(bytes: Buffer, answer: HttpResponse): unknown {
  if (bytes.length === 0) return undefined;
  const text = bytes.toString('utf8');
  if (answer.headers['content-type']?.startsWith('text/plain') === true) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError('Bad response from server');
  }
}
