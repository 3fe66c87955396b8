import type { Namespace } from '../store/namespace.ts';
import type { Operation, OperationResult } from '../operations/operations.ts';
import type { TableDamage, TableKind } from '../store/table-damage.ts';
import type { WrittenTable } from '../store/table-store.ts';
import type { CacheFolders } from '../store/namespace.ts';
import type { SplitSettings } from '../operations/tree-writer.ts';

export interface WorkerSetup {
  readonly role: 'trees' | 'hash';
  readonly folders: CacheFolders;
  readonly split: SplitSettings;
  readonly memoryBytes: number;
  readonly openRanges: number;
}

export type ToWorker =
  | { readonly type: 'start'; readonly job: number; readonly operation: Operation }
  | { readonly type: 'batch'; readonly job: number; readonly bytes: ArrayBuffer; readonly length: number }
  | { readonly type: 'end'; readonly job: number }
  | { readonly type: 'cancel'; readonly job: number }
  | { readonly type: 'answer'; readonly call: number; readonly failed: boolean };

export type FromWorker =
  | { readonly type: 'ready' }
  | { readonly type: 'taken'; readonly job: number; readonly bytes: ArrayBuffer }
  | { readonly type: 'done'; readonly job: number; readonly result: OperationResult }
  | {
      readonly type: 'failed';
      readonly job: number;
      /** The call to the main thread that failed; its error stays there. */
      readonly call: number | undefined;
      /** Committed metadata is damaged; otherwise it is a mistake of ours. */
      readonly damage: boolean;
      readonly message: string;
    }
  | { readonly type: 'damaged'; readonly damage: TableDamage }
  | { readonly type: 'call'; readonly call: number; readonly request: WorkerCall };

/** What a worker asks the main thread, which holds the block store. */
export type WorkerCall =
  | {
      readonly method: 'fetch';
      readonly namespace: Namespace;
      readonly kind: TableKind;
      readonly id: string;
    }
  | { readonly method: 'publish'; readonly namespace: Namespace; readonly table: WrittenTable };

/** To and from the thread that hashes records. */
export type ToHasher =
  | {
      readonly type: 'update';
      readonly hash: number;
      readonly bytes: ArrayBuffer;
      readonly length: number;
      /** Keep the state reached. */
      readonly keep: boolean;
    }
  | { readonly type: 'digest'; readonly hash: number; readonly last: Uint8Array }
  /** Starts a hash with the first `states` kept states of a finished one; it goes on from the last of them. */
  | { readonly type: 'resume'; readonly hash: number; readonly from: number; readonly states: number }
  /** Lets a hash and its kept states go. */
  | { readonly type: 'forget'; readonly hash: number };

export type FromHasher =
  | { readonly type: 'spare'; readonly bytes: ArrayBuffer }
  | { readonly type: 'digest'; readonly hash: number; readonly digest: string };
