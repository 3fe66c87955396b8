/** How lmdb remembers a write: a link of a chain that holds the promises of all writes. */
export interface RememberedWrite {
  next: RememberedWrite | null;
  meta: object | null;
  nextTxn?: RememberedWrite | null;
}

interface CommitEvents {
  on(event: 'aftercommit', listener: (event: { readonly next: RememberedWrite }) => void): void;
}

/**
 * Cuts writes that were answered off the chain. One of them in old memory would keep all later ones alive, with the
 * requests that waited for them, until the next full collection.
 */
export function forgetFinishedWrites(db: CommitEvents): void {
  let finished: RememberedWrite | null = null;
  db.on('aftercommit', ({ next }) => {
    // Those of the commit that has just ended are answered after this; all before were.
    while (finished !== null && finished !== next) {
      const following: RememberedWrite | null = finished.next;
      finished.next = null;
      finished.meta = null;
      finished.nextTxn = null;
      finished = following;
    }
    finished = next;
  });
}
