/** What a walk needs to know; plain data, so that it can be handed to a thread. */
export interface WalkPlan {
  /** The folder to walk, without trailing slash. */
  readonly folder: string;
  /** Only entries of that folder whose names start with it. */
  readonly prefix: string;
  /** Continue after this path. */
  readonly after: string | undefined;
  readonly hidden: boolean;
  readonly skipEtag: boolean;
  /** Folders that are left out. */
  readonly reserved: readonly string[];
}

/** One page of files, column by column: cheaper to hand over than an object each. */
export interface WalkColumns {
  readonly paths: readonly string[];
  readonly etags: readonly string[];
  readonly sizes: Float64Array;
  /** Milliseconds since 1970. */
  readonly modified: Float64Array;
}

/** What a walk has left out: names that are not UTF-8, which no address can hold. */
export interface SkippedNames {
  count: number;
  /** One of them, as far as it can be shown. */
  example: string;
}

export interface WalkWorkerData {
  readonly plan: WalkPlan;
  /** One number: how many pages the reader is ready to take. */
  readonly credits: Int32Array;
}

export type WalkMessage =
  | { readonly kind: 'page'; readonly page: WalkColumns }
  | { readonly kind: 'end'; readonly skipped: SkippedNames }
  | { readonly kind: 'failed'; readonly error: unknown };

export const walkPage = 1000;
