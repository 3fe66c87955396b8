import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { OperationRequirement } from './requirement-template.ts';

type ReadMethod = 'GET' | 'HEAD';
type WriteMethod = 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type Method = ReadMethod | WriteMethod;

/** One answer: its body by media type (none = empty body) and the headers worth knowing. */
export interface ResponseSpec {
  readonly content: Readonly<Record<string, TSchema>>;
  readonly headers?: readonly string[];
}

export interface BodySpec {
  readonly required: boolean;
  /** Called optional in the OpenAPI document, as existing clients know it. */
  readonly shownOptional?: true;
  readonly content: Readonly<Record<string, TSchema>>;
}

/**
 * What happens to a body after its schema has been checked and before the permission, which is about the result:
 *
 * - `refuse`: the text of `field` must not hold `holding`;
 * - `lowerCase`: the text of `field` is put into lower case when the flag `when` is set.
 */
export type BodyStep =
  | { readonly type: 'refuse'; readonly field: string; readonly holding: string; readonly message: string }
  | { readonly type: 'lowerCase'; readonly field: string; readonly when: string };

/** One operation of the HTTP API: everything that validation, handlers, documents and clients need to know. */
export interface Operation {
  readonly operationId: string;
  readonly method: Method;
  /**
   * Sending it twice leaves the same state as sending it once. Clients repeat such a call when they cannot know
   * whether it happened.
   */
  readonly idempotent: boolean;
  /** Below the base path `/api/v1`; `{name}` is a percent-decoded segment. */
  readonly path: string;
  /** Further paths of the same operation, each with the id it has in the OpenAPI document. */
  readonly aliases: readonly { readonly path: string; readonly operationId: string }[];
  readonly tag: string;
  readonly summary: string;
  readonly deprecated: boolean;
  /** Not for users' programs: plumbing that tools need. */
  readonly internal: boolean;
  readonly experimental: boolean;
  /** False for operations on policies: in the mode `simplified` nobody has them. */
  readonly inSimplifiedMode: boolean;
  readonly requires: OperationRequirement;
  /** Only path parameters that are more than a non-empty string. */
  readonly params: TProperties;
  readonly query: TProperties;
  readonly headers: TProperties;
  readonly body: BodySpec | undefined;
  readonly bodySteps: readonly BodyStep[];
  readonly responses: Readonly<Record<string, ResponseSpec>>;
}

/** The facts of an operation that states nothing else. */
const usual = {
  aliases: [],
  deprecated: false,
  internal: false,
  experimental: false,
  inSimplifiedMode: true,
  params: {},
  query: {},
  headers: {},
  body: undefined,
  bodySteps: [],
} as const satisfies Partial<Operation>;

type Usual = typeof usual;

/** An operation as it is written down: every write says whether it is idempotent, reads always are. */
export type OperationShape = Omit<Operation, 'method' | 'idempotent' | keyof Usual> &
  Partial<Pick<Operation, keyof Usual>> &
  (
    | { readonly method: ReadMethod; readonly idempotent?: never }
    | { readonly method: WriteMethod; readonly idempotent: boolean }
  );

type WithDefaults<O extends OperationShape> = Omit<O, 'idempotent'> &
  Omit<Usual, keyof O> & { readonly idempotent: O['idempotent'] extends boolean ? O['idempotent'] : true };

export function operation<const O extends OperationShape>(shape: O): WithDefaults<O> {
  return { idempotent: true, ...usual, ...shape } as unknown as WithDefaults<O>;
}

type PathNames<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathNames<Rest>
  : never;

/** The path parameters named in a path. */
export type PathParameters<P extends string> = { readonly [Name in PathNames<P>]: string };

export type QueryOf<O extends Operation> = Static<TObject<O['query']>>;
export type HeadersOf<O extends Operation> = Static<TObject<O['headers']>>;

type JsonBody<O extends Operation> = O['body'] extends {
  required: infer Required;
  content: { 'application/json': infer S extends TSchema };
}
  ? Required extends true
    ? Static<S>
    : Static<S> | undefined
  : undefined;

/** The validated JSON body; undefined where the operation has none (or an optional one was left out). */
export type BodyOf<O extends Operation> = JsonBody<O>;

type SuccessStatus = '200' | '201' | '202' | 200 | 201 | 202;
type Successes<O extends Operation> = O['responses'][keyof O['responses'] & SuccessStatus];

/** The JSON body of the operation's 2xx answers; void where the answer is empty or not JSON. */
export type ResultOf<O extends Operation> =
  Successes<O> extends { content: { 'application/json': infer S extends TSchema } } ? Static<S> : void;
