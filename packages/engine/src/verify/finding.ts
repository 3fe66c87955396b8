/** Keys of a table that cannot be read: those above `after` (from the first on, without it), up to `upTo`. */
export interface LostSpan {
  readonly after: Buffer | undefined;
  readonly upTo: Buffer;
  readonly reason: string;
}

/** A stored thing that is not what its name says. */
export interface DamageFinding {
  readonly type: 'damage';
  readonly repository: string;
  readonly kind: 'metarange' | 'range' | 'commit' | 'branch' | 'tag' | 'object';
  /** Of an object its path. */
  readonly id: string;
  /**
   * `missing`: it is named but not stored. `damaged`: it cannot be read, or is not what its id stands for.
   * `inconsistent`: it is sound, but another record contradicts it.
   */
  readonly problem: 'missing' | 'damaged' | 'inconsistent';
  readonly reason: string;
  /** The keys a range holds as its metarange says; undefined for other kinds. */
  readonly keys?: { readonly first: Buffer; readonly last: Buffer } | undefined;
  /** Which of the keys are lost, where that is known; empty when all are. */
  readonly lost: readonly LostSpan[];
}

/** A commit, branch or tag that shows damaged ranges or metaranges. */
export interface ConcernedFinding {
  readonly type: 'concerned';
  readonly repository: string;
  readonly kind: 'commit' | 'branch' | 'tag';
  readonly id: string;
  /** The commit that a branch or tag names. */
  readonly commitId: string;
  /** Ids of the damaged tables below it. */
  readonly tables: readonly string[];
}

export type Finding = DamageFinding | ConcernedFinding;
