import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ClientOrigin, Identity, Requirement } from '@svc/auth';
import type { Actor } from '@svc/engine';
import type {
  BodyOf,
  HeadersOf,
  Operation,
  OperationGroup,
  OperationGroups,
  OperationId,
  Operations,
  PathParameters,
  QueryOf,
  ResultOf,
} from '@svc/contract';
import type { HeldMemory } from '@svc/http';
import type { Answer } from './answer/answer.ts';

/** One validated, authenticated and authorized request. */
export interface Call<O extends Operation = Operation> {
  readonly params: PathParameters<O['path']>;
  readonly query: QueryOf<O>;
  readonly headers: HeadersOf<O>;
  readonly body: BodyOf<O>;
  readonly requestId: string;
  readonly client: ClientOrigin;
  /** The caller; asking for it in an open operation is a programming error. */
  readonly identity: Identity;
  /** Who is recorded in commits and handed to hooks. */
  readonly actor: Actor;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Counts what is collected of the body. */
  readonly memory: HeldMemory;
  /** Tells who has just logged in, for the audit log. */
  readonly logIn: (username: string) => void;
  /** Throws unless the caller fulfils a requirement that only the operation could work out. */
  ensure(requirement: Requirement): Promise<void> | undefined;
}

type RequiredKeys<T> = { [K in keyof T]-?: object extends Pick<T, K> ? never : K }[keyof T];

/** A result as handlers may write it: read-only, and optional fields may be undefined. */
export type Loose<T> = T extends readonly (infer Item)[]
  ? readonly Loose<Item>[]
  : T extends object
    ? { readonly [K in keyof T as K extends RequiredKeys<T> ? K : never]: Loose<T[K]> } & {
        readonly [K in keyof T as K extends RequiredKeys<T> ? never : K]?: Loose<T[K]> | undefined;
      }
    : T;

type HandlerResult<O extends Operation> = Loose<ResultOf<O>> | Answer;

export type Handler<O extends Operation> = (call: Call<O>) => HandlerResult<O> | Promise<HandlerResult<O>>;

/** Handlers of some operations, by id. */
export type Handlers<Id extends OperationId> = { readonly [K in Id]: Handler<Operations[K]> };

/** Handlers of the operations that one file of the contract describes. */
export type HandlersOf<G extends OperationGroup> = Handlers<keyof OperationGroups[G] & OperationId>;
