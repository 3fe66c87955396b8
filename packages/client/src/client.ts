import createFetchClient from 'openapi-fetch';
import type { Client as FetchClient, FetchResponse, MaybeOptionalInit } from 'openapi-fetch';
import type { HttpMethod, PathsWithMethod, RequiredKeysOf } from 'openapi-typescript-helpers';
import type { paths } from './generated/api.ts';
import { isIdempotent } from './idempotent.ts';
import { createObjectTransfer } from './object-transfer.ts';
import type { ObjectTransfer } from './object-transfer.ts';
import { createTransport } from './transport.ts';
import type { ClientOptions } from './transport.ts';

type InitArguments<Init> = RequiredKeysOf<Init> extends never ? [init?: Init] : [init: Init];

type Answer<Operation extends Record<string | number, unknown>, Init> = Extract<
  FetchResponse<Operation, Init, `${string}/${string}`>,
  { error?: never }
>['data'];

type Call<Method extends HttpMethod> = <
  Path extends PathsWithMethod<paths, Method>,
  Init extends MaybeOptionalInit<paths[Path], Method>,
>(
  path: Path,
  ...init: InitArguments<Init>
) => Promise<
  paths[Path][Method] extends Record<string | number, unknown> ? Answer<paths[Path][Method], Init> : never
>;

type CallWithHeaders<Method extends HttpMethod> = <
  Path extends PathsWithMethod<paths, Method>,
  Init extends MaybeOptionalInit<paths[Path], Method>,
>(
  path: Path,
  ...init: InitArguments<Init>
) => Promise<{
  readonly data: paths[Path][Method] extends Record<string | number, unknown>
    ? Answer<paths[Path][Method], Init>
    : never;
  readonly headers: Headers;
}>;

/** The typed client. Every call returns the decoded answer, or throws `ApiError` when the server refuses. */
export interface Client {
  readonly get: Call<'get'>;
  /** As `get`, with the answer's headers (an ETag for a later conditional write). */
  readonly getWithHeaders: CallWithHeaders<'get'>;
  readonly post: Call<'post'>;
  readonly put: Call<'put'>;
  readonly patch: Call<'patch'>;
  readonly delete: Call<'delete'>;
  /** Streams objects to and from a repository. */
  readonly objects: ObjectTransfer;
}

export function createClient(options: ClientOptions): Client {
  const transport = createTransport(options);
  const calls = createFetchClient<paths>({
    baseUrl: transport.baseUrl,
    fetch: async (request) => {
      const path = new URL(request.url).pathname;
      return await asJson(await transport.call(request, isIdempotent(request.method, path)));
    },
  });
  return {
    get: method(calls, 'GET') as Call<'get'>,
    getWithHeaders: (async (path: string, init?: object) => {
      const send = calls.GET as unknown as Send;
      const { data, response } = await send(path, init);
      return { data, headers: response.headers };
    }) as unknown as CallWithHeaders<'get'>,
    post: method(calls, 'POST') as Call<'post'>,
    put: method(calls, 'PUT') as Call<'put'>,
    patch: method(calls, 'PATCH') as Call<'patch'>,
    delete: method(calls, 'DELETE') as Call<'delete'>,
    objects: createObjectTransfer(transport),
  };
}

type Send = (path: string, init?: object) => Promise<{ data?: unknown; response: Response }>;

type Verb = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

function method(calls: FetchClient<paths>, verb: Verb): (path: string, init?: object) => Promise<unknown> {
  const send = calls[verb] as unknown as Send;
  return async (path, init) => (await send(path, init)).data;
}

/** The one operation that answers in plain text is decoded like the others. */
async function asJson(response: Response): Promise<Response> {
  if (response.headers.get('content-type')?.startsWith('text/plain') !== true) return response;
  const { status, headers } = response;
  return new Response(JSON.stringify(await response.text()), {
    status,
    headers: { ...Object.fromEntries(headers), 'content-type': 'application/json', 'content-length': '' },
  });
}
