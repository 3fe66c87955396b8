/** Ids that exist on the server, read when it was last furnished. */
export interface Facts {
  readonly commits: readonly string[];
  readonly metaranges: readonly string[];
  readonly ranges: readonly string[];
  readonly addresses: readonly string[];
  readonly uploads: readonly string[];
  readonly pulls: readonly string[];
  readonly accessKeys: readonly string[];
  /** A storage namespace is made by putting a name behind it. */
  readonly namespace: string;
  /** A storage address that no repository owns and that may be imported. */
  readonly outside: string;
}

/** The one object that some callers must never read, and what is in it. */
export const secretPath = 'secret/plan';
export const secretContent = 'the-content-that-is-denied-9f3a71';

export const repositories = ['fuzz-one', 'fuzz-two'] as const;

/** Right values by the name of a parameter or property. */
export function knownValues(facts: Facts): Readonly<Record<string, readonly string[]>> {
  const refs = ['main', 'dev', 'v1', 'main~1', 'main$', 'dev$', ...facts.commits];
  const branches = ['main', 'dev', 'topic'];
  const paths = ['a', 'dir/b', 'dir/', 'none', 'copy', 'x/y/z', 'html'];
  return {
    repository: ['fuzz-one', 'fuzz-one', 'fuzz-one', 'fuzz-two'],
    branch: branches,
    ref: refs,
    from: refs,
    sourceRef: refs,
    leftRef: refs,
    rightRef: refs,
    stop_at: refs,
    src_ref: refs,
    destinationBranch: branches,
    tag: ['v1', 'v2'],
    commitId: ['main', 'dev~1', 'v1', ...facts.commits],
    commit_id: facts.commits,
    parents: facts.commits,
    userId: ['bob', 'carol'],
    groupId: ['team'],
    policyId: ['custom'],
    accessKeyId: facts.accessKeys,
    type: ['range', 'meta_range'],
    object_id: [...facts.ranges, ...facts.metaranges],
    meta_range: facts.metaranges,
    range: facts.ranges,
    metarange_id: facts.metaranges,
    source_metarange: facts.metaranges,
    commits_meta_range_id: facts.metaranges,
    tags_meta_range_id: facts.metaranges,
    branches_meta_range_id: facts.metaranges,
    uploadId: facts.uploads,
    upload_id: facts.uploads,
    pull_request: facts.pulls,
    partNumber: ['1', '2', '10000', '0'],
    path: paths,
    paths,
    objects: paths,
    prefixes: ['dir/', ''],
    prefix: ['', 'd', 'dir/', 'ma'],
    after: ['', 'a', 'dir/b', 'main'],
    delimiter: ['/', '', 'i'],
    dest_path: ['copy', 'dir/copy'],
    src_path: ['a', 'dir/b'],
    destination: ['imported/', 'dir/', ''],
    location: ['', 'dir', 'dir/'],
    name: ['fuzz-two', 'dev', 'topic'],
    source: refs,
    id: ['bob', 'team', 'custom', 'v2'],
    storage_namespace: [`${facts.namespace}/fuzz-two`, `${facts.namespace}/three`, 's3://elsewhere/x'],
    source_branch: ['dev', 'main'],
    destination_branch: ['main', 'dev'],
    pattern: ['stable_*', '[', 'main-*', '*'],
    physical_address: [...facts.addresses, facts.outside, 'data/x', `${facts.namespace}/three/data/x`],
    content_type: ['text/plain', 'text/html', 'application/octet-stream'],
    checksum: ['d41d8cd98f00b204e9800998ecf8427e'],
    action: ['fs:ReadObject', 'fs:*', 'auth:ReadUser'],
    effect: ['allow', 'deny'],
    resource: ['*', 'arn:svc:fs:::repository/*', 'arn:svc:auth:::user/${user}'],
    principalId: ['aws/1'],
    strategy: ['', 'source-wins', 'dest-wins'],
  };
}
