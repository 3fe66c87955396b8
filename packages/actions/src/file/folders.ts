/** Ours goes first: of two files with one name in both folders it is the one that counts. */
export const actionFolders = ['_svc_actions/', '_lakefs_actions/'] as const;

/** Of the files in the folders, given in order, those that count. */
export function countingFiles(paths: readonly string[]): string[] {
  const names = new Set<string>();
  return paths.filter((path) => {
    const name = path.slice(path.indexOf('/') + 1);
    if (names.has(name)) return false;
    names.add(name);
    return true;
  });
}
