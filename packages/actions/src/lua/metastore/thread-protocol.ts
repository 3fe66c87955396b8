import type { ResolvedAddress } from '@svc/outgoing';
import type { ApiCall, HostAnswer, HttpCall, MetastoreCall } from '../worker-protocol.ts';

export interface MetastoreWorkerData {
  readonly call: MetastoreCall;
  /** What one metastore may send. */
  readonly maxReceivedBytes: number;
}

/** Asks where a host is, and whether a connection may go there. */
export interface AddressCall {
  readonly kind: 'address';
  readonly host: string;
}

/** What the thread cannot do by itself: everything that leaves the process, and where it may go. */
export type ThreadCall = ApiCall | HttpCall | AddressCall;

export interface Addresses {
  readonly addresses: readonly ResolvedAddress[];
}

export type ThreadAnswer = HostAnswer | Addresses;

export type FromMetastoreThread =
  | { readonly kind: 'ready'; readonly thread: number | undefined }
  | { readonly kind: 'call'; readonly id: number; readonly call: ThreadCall }
  /** What the script gets, as JSON, or why it gets nothing. */
  | { readonly kind: 'ended'; readonly result: string }
  | { readonly kind: 'failed'; readonly message: string };

export interface ToMetastoreThread {
  readonly id: number;
  readonly answer: ThreadAnswer;
}
