import type { MessagePort } from 'node:worker_threads';

/** What a thread is told to run. */
export interface LuaJob {
  readonly source: string;
  readonly args: unknown;
  readonly action: unknown;
  readonly username: string;
  /** Milliseconds since 1970; undefined is no limit. */
  readonly deadline: number | undefined;
  readonly outputLimit: number;
  readonly exportPrefix: string;
}

/** What scripts may have, whoever brings them. */
export interface LuaLimits {
  readonly memoryBytes: number;
  /** Whether there is a package `net/http`. */
  readonly netHttpEnabled: boolean;
}

export interface LuaWorkerData extends LuaLimits {
  /** Where answers to calls are announced: 1 while there is one. */
  readonly announced: Int32Array;
  readonly answers: MessagePort;
}

/** Credentials of this service. */
export interface KeyPair {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface ApiCall {
  readonly kind: 'api';
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Whose rights count; without them those of the user of the event. */
  readonly credentials?: KeyPair | undefined;
}

export interface HttpCall {
  readonly kind: 'http';
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Bytes, one per character. */
  readonly body?: string | undefined;
  readonly timeoutMs: number;
}

export const metastoreOperations = [
  'copy',
  'copy_schema',
  'copy_all',
  'import_all',
  'diff',
  'create_symlink',
] as const;
export type MetastoreOperation = (typeof metastoreOperations)[number];

/** Answered with status 200 and JSON. */
export interface MetastoreCall {
  readonly kind: 'metastore';
  readonly operation: MetastoreOperation;
  /** JSON. */
  readonly options: string;
}

export type HostCall = ApiCall | HttpCall | MetastoreCall;

export type HostAnswer =
  | {
      readonly status: number;
      readonly statusText: string;
      readonly rawHeaders: readonly string[];
      readonly body: Uint8Array;
    }
  | { readonly error: string };

export type FromWorker =
  | { readonly kind: 'ready'; readonly thread: number | undefined }
  | { readonly kind: 'call'; readonly call: HostCall }
  | { readonly kind: 'output'; readonly bytes: Uint8Array }
  /** With what was written since the last output. */
  | { readonly kind: 'ended'; readonly failure: string | undefined; readonly bytes: Uint8Array };
