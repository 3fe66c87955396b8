import { copyTable, type CopyOutcome, type CopyRequest, type TablePlace } from './copy-table.ts';
import { amongSymlinks } from './locations.ts';

export interface SymlinkRequest {
  readonly from: TablePlace;
  readonly to: TablePlace;
  readonly repository: string;
  readonly branch: string;
  readonly fixSparkPlaceholder: boolean;
  readonly dryRun: boolean;
  /** Has the server list the objects of the branch in symlink files, and says below which address they are. */
  readonly writeSymlinks: () => Promise<string>;
}

const symlinkFormat = 'org.apache.hadoop.hive.ql.io.SymlinkTextInputFormat';

/** Makes a table that reads the objects of a branch where they are stored. The location is empty in a dry run. */
export async function createSymlinkTable(
  request: SymlinkRequest,
): Promise<{ readonly location: string; readonly outcome: CopyOutcome }> {
  const { from, to, repository, branch, fixSparkPlaceholder } = request;
  const copyOf = (root: string, dryRun: boolean): CopyRequest => ({
    from,
    to,
    rewrite: {
      serde: '',
      inputFormat: symlinkFormat,
      relocate: amongSymlinks(root, repository, branch),
      fixSparkPlaceholder,
    },
    dryRun,
  });
  // What cannot be copied is refused before the server writes anything.
  const planned = await copyTable(copyOf('symlinks:', true));
  if (request.dryRun) return { location: '', outcome: planned };
  const location = await request.writeSymlinks();
  return { location, outcome: await copyTable(copyOf(location, false)) };
}
