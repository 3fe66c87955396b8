/** What the classes of garbage are called. */
export const classNames: Readonly<Record<string, string>> = {
  expired: 'Expired by the rules',
  uncommitted: 'Never committed',
  tables: 'Metadata no commit uses',
  commits: 'Commits nothing leads to',
  uploads: 'Unfinished uploads',
};
