import type {
  FilterKeys,
  HttpMethod,
  IsOperationRequestBodyOptional,
  OperationRequestBodyContent,
  PathsWithMethod,
  RequiredKeysOf,
  ResponseObjectMap,
  SuccessResponse,
} from 'openapi-typescript-helpers';
import { checkSuccess, decode } from './answers.ts';
import type { paths } from './generated/api.ts';
import type { Answer } from './sender.ts';
import type { ApiCall, Transport } from './transport.ts';

type OperationOf<Path extends keyof paths, Method extends HttpMethod> = FilterKeys<paths[Path], Method>;

type Params<Operation> = Operation extends { parameters: infer Parameters }
  ? RequiredKeysOf<Parameters> extends never
    ? { readonly params?: Parameters }
    : { readonly params: Parameters }
  : { readonly params?: never };

type Body<Operation> =
  IsOperationRequestBodyOptional<Operation> extends true
    ? { readonly body?: OperationRequestBodyContent<Operation> }
    : { readonly body: OperationRequestBodyContent<Operation> };

type Init<Operation> = Params<Operation> &
  Body<Operation> & {
    readonly signal?: AbortSignal | undefined;
    /** False sends the call once, whatever happens. */
    readonly repeat?: boolean | undefined;
  };

type InitArguments<Operation> =
  RequiredKeysOf<Init<Operation>> extends never ? [init?: Init<Operation>] : [init: Init<Operation>];

type Data<Operation> =
  ResponseObjectMap<Operation> extends infer Responses extends Record<string | number, unknown>
    ? SuccessResponse<Responses>
    : never;

type Call<Method extends HttpMethod> = <Path extends PathsWithMethod<paths, Method>>(
  path: Path,
  ...init: InitArguments<OperationOf<Path, Method>>
) => Promise<Data<OperationOf<Path, Method>>>;

type CallWithHeaders<Method extends HttpMethod> = <Path extends PathsWithMethod<paths, Method>>(
  path: Path,
  ...init: InitArguments<OperationOf<Path, Method>>
) => Promise<{
  readonly data: Data<OperationOf<Path, Method>>;
  /** A header by its name in lower case. */
  readonly header: (name: string) => string | undefined;
}>;

/** The typed calls. Each returns the decoded answer, or throws `ApiError` when the server refuses. */
export interface Calls {
  readonly get: Call<'get'>;
  /** As `get`, with the answer's headers (an ETag for a later conditional write). */
  readonly getWithHeaders: CallWithHeaders<'get'>;
  readonly post: Call<'post'>;
  readonly put: Call<'put'>;
  readonly patch: Call<'patch'>;
  readonly delete: Call<'delete'>;
}

type AnyInit = Pick<ApiCall<never>, 'params' | 'signal' | 'repeat'> & { readonly body?: unknown };

export function createCalls<Payload, Stream>(transport: Transport<Payload, Stream>): Calls {
  const exchange = async (
    method: string,
    path: string,
    { body, ...init }: AnyInit = {},
  ): Promise<Answer<Stream>> => {
    const headers: Record<string, string> = { accept: 'application/json' };
    if (body !== undefined) headers['content-type'] = 'application/json';
    const answer = await transport.call({
      ...init,
      method,
      path,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    await checkSuccess(answer);
    return answer;
  };
  const call = (method: string) => async (path: string, init?: AnyInit) =>
    decode(await exchange(method, path, init));
  const calls = {
    get: call('GET'),
    post: call('POST'),
    put: call('PUT'),
    patch: call('PATCH'),
    delete: call('DELETE'),
    getWithHeaders: async (path: string, init?: AnyInit) => {
      const answer = await exchange('GET', path, init);
      return { data: await decode(answer), header: (name: string) => answer.header(name) };
    },
  };
  // Paths, parameters and answers are typed by the interface; here they are all alike.
  return calls as unknown as Calls;
}
