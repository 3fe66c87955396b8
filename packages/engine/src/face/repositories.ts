import type { StringMap, Timestamp } from '@svc/encoding';
import type { Actor, Forceable, InRepository, Page, PageRequest, Repository } from './model.ts';
import type { AddressRights } from './objects.ts';

export interface CreateRepositoryOptions extends AddressRights {
  readonly name: string;
  /** Absent means the only (or the backward compatible) store. */
  readonly storageId?: string | undefined;
  readonly storageNamespace: string;
  readonly defaultBranch?: string | undefined;
  readonly bare?: boolean | undefined;
  readonly readOnly?: boolean | undefined;
  readonly sampleData?: boolean | undefined;
  /** Throws when the caller may not use the namespace; told all its spellings, without a slash at their ends. */
  readonly checkAttach?: ((spellings: readonly string[]) => void | Promise<void>) | undefined;
  readonly actor: Actor;
}

export interface DeleteRepositoryOptions extends InRepository, Forceable {
  /** Its records go at once; there is no way back. */
  readonly purge?: boolean | undefined;
  /** Its data in the store goes too, when its time in the trash is over. */
  readonly deleteData?: boolean | undefined;
  readonly actor: Actor;
}

/** A repository that was deleted and can come back. */
export interface DeletedRepository {
  readonly id: string;
  readonly instance: string;
  readonly storageNamespace: string;
  readonly storageId: string;
  readonly defaultBranch: string;
  readonly deletedAt: Timestamp;
  readonly deletedBy: string;
  readonly restorableUntil: Timestamp;
  readonly deleteData: boolean;
  /** The repository that has taken its namespace: it cannot come back. */
  readonly displacedBy: string | undefined;
}

export interface ListDeletedRepositoriesOptions extends PageRequest {
  readonly visible?: ((repository: DeletedRepository) => boolean | Promise<boolean>) | undefined;
}

interface InTrash {
  readonly instance: string;
}

export interface ListRepositoriesOptions extends PageRequest {
  /** Case-sensitive substring of the id. */
  readonly search?: string | undefined;
  /** Leaves out what the caller may not see; pages stay full. */
  readonly visible?: ((repository: Repository) => boolean | Promise<boolean>) | undefined;
}

export interface Repositories {
  create(options: CreateRepositoryOptions): Promise<Repository>;
  /** Only active ones; a repository in deletion is `in_deletion`. */
  get(repository: string): Promise<Repository>;
  /** Includes repositories in deletion. */
  list(options: ListRepositoriesOptions): Promise<Page<Repository>>;
  /** Calling it again resumes an interrupted purge. */
  delete(options: DeleteRepositoryOptions): Promise<void>;
  listDeleted(options: ListDeletedRepositoriesOptions): Promise<Page<DeletedRepository>>;
  /** Also one whose time is over, while its record is there. */
  getDeleted(instance: string): Promise<DeletedRepository>;
  restore(options: InTrash & { readonly actor: Actor }): Promise<Repository>;
  /** Ends its time in the trash; what is left of it goes soon. */
  purge(options: InTrash & { readonly deleteData: boolean }): Promise<void>;
  getMetadata(repository: string): Promise<StringMap>;
  /** Merges keys; allowed on read-only repositories. */
  setMetadata(options: InRepository & { readonly metadata: StringMap }): Promise<void>;
  deleteMetadata(options: InRepository & { readonly keys: readonly string[] }): Promise<void>;
}
