import type { CommittedContext } from '../committed/context.ts';
import type { Repository } from '../face/model.ts';

/** An active repository and where its records and trees live. */
export interface RepositoryScope {
  readonly repository: Repository;
  /** Partition of all child records. */
  readonly partition: Buffer;
  readonly committed: CommittedContext;
}
