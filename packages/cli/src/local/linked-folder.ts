import type { CommandContext } from '../context.ts';
import { maxPage } from '../pagination.ts';
import { presignSupport, type PresignSupport } from '../presign.ts';
import { parallelismOf, type TransferFlags } from '../transfer/transfer-flags.ts';
import type { Tally } from '../transfer/summary.ts';
import { formatUri, type PathUri } from '../uri.ts';
import type { Change, ChangeKind } from './changes.ts';
import type { FileRules } from './entry.ts';
import { fileRules } from './file-rules.ts';
import { FolderSync } from './folder-sync.ts';
import { IgnoreRules } from './ignore.ts';
import { diffFolder } from './local-diff.ts';
import { listFolder } from './remote-listing.ts';
import { walkFolder } from './walk.ts';

/** A folder and the place in a repository it follows. */
export class LinkedFolder {
  readonly context: CommandContext;
  readonly root: string;
  readonly src: PathUri;
  readonly rules: FileRules;

  constructor(context: CommandContext, root: string, src: PathUri) {
    this.context = context;
    this.root = root;
    this.src = src;
    this.rules = fileRules(context.config);
  }

  async resolve(ref: string): Promise<string> {
    const commit = await this.context.client.get('/repositories/{repository}/commits/{commitId}', {
      params: { path: { repository: this.src.repository, commitId: ref } },
    });
    return commit.id;
  }

  /** What was changed in the folder since a commit. */
  async localChanges(commit: string): Promise<Change[]> {
    const { out, client } = this.context;
    out.info('');
    out.info(`diff 'local://${this.root}' <--> '${formatUri({ ...this.src, ref: commit })}'...`);
    const ignored = IgnoreRules.of(this.root);
    const remote = listFolder(
      { client, repository: this.src.repository, ref: commit, prefix: this.src.path },
      this.rules,
      ignored,
      (text) => {
        out.warning(text);
      },
    );
    const changes: Change[] = [];
    const local = walkFolder(this.root, this.rules, ignored);
    for await (const change of diffFolder(this.root, local, remote, this.rules)) changes.push(change);
    return changes;
  }

  /** What was committed between two commits. */
  async remoteChanges(from: string, to: string): Promise<Change[]> {
    const { out, client } = this.context;
    const { repository, path: prefix } = this.src;
    out.info('');
    out.info(`diff '${formatUri({ ...this.src, ref: from })}' <--> '${formatUri(this.src)}'...`);
    const ignored = IgnoreRules.of(this.root);
    const changes: Change[] = [];
    for (let after = ''; ;) {
      const page = await client.get('/repositories/{repository}/refs/{leftRef}/diff/{rightRef}', {
        params: {
          path: { repository, leftRef: from, rightRef: to },
          query: { type: 'two_dot', prefix, after, amount: maxPage },
        },
      });
      for (const { path: full, type } of page.results) {
        const path = full.slice(prefix.length);
        const isMarker = path.endsWith('/') && !this.rules.posix;
        if (path === '' || isMarker || ignored.ignores(path)) continue;
        changes.push({ side: 'remote', kind: kindOf(type), path });
      }
      if (!page.pagination.has_more) return changes;
      after = page.pagination.next_offset;
    }
  }

  /** Applies changes; downloads come from `commit`. */
  async sync(
    changes: Iterable<Change> | AsyncIterable<Change>,
    commit: string,
    flags: TransferFlags,
    options: { readonly title: string; readonly signal: AbortSignal; readonly presign?: PresignSupport },
  ): Promise<Tally> {
    const { context, src } = this;
    const presign = options.presign ?? (await presignSupport(context, src.repository, flags.preSign));
    return new FolderSync({
      transport: context.transport,
      out: context.out,
      root: this.root,
      repository: src.repository,
      branch: src.ref,
      ref: commit,
      prefix: src.path,
      rules: this.rules,
      presign,
      parallelism: parallelismOf(context, flags),
      noProgress: !flags.progress,
      title: options.title,
    }).apply(changes, options.signal);
  }
}

function kindOf(type: string): ChangeKind {
  if (type === 'added' || type === 'removed') return type;
  return 'modified';
}
