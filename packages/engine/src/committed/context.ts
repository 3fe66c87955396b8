/** Where a repository's committed trees live. */
export interface CommittedContext {
  readonly storageId: string;
  readonly storageNamespace: string;
  /** `_svc` or `_lakefs`; fixed per repository. */
  readonly metadataPrefix: string;
}
