import type { Branches } from './face/branches.ts';
import type { Commits } from './face/commits.ts';
import type { Dumps } from './face/dumps.ts';
import type { Gc } from './face/gc.ts';
import type { Imports } from './face/imports.ts';
import type { Merges } from './face/merges.ts';
import type { Metadata } from './face/metadata.ts';
import type { Objects } from './face/objects.ts';
import type { Protection } from './face/protection.ts';
import type { Pulls } from './face/pulls.ts';
import type { Refs } from './face/refs.ts';
import type { Repositories } from './face/repositories.ts';
import type { Tags } from './face/tags.ts';
import type { Tasks } from './face/tasks.ts';
import type { Uploads } from './face/uploads.ts';
import type { Usage } from './face/usage.ts';

/** The versioning engine: one method per operation, grouped by what it is about. */
export interface Engine {
  readonly repositories: Repositories;
  readonly branches: Branches;
  readonly tags: Tags;
  readonly protection: Protection;
  readonly objects: Objects;
  readonly uploads: Uploads;
  readonly commits: Commits;
  readonly refs: Refs;
  readonly merges: Merges;
  readonly pulls: Pulls;
  readonly imports: Imports;
  readonly dumps: Dumps;
  readonly gc: Gc;
  readonly tasks: Tasks;
  readonly metadata: Metadata;
  readonly usage: Usage;
  /** Starts the background jobs of this server; call it in one process per server. */
  startJobs(): void;
  /** Ends background work and waits for it. Does not close the stores it was given. */
  close(): Promise<void>;
}
