import type { Goals } from '../driver/report.ts';

/**
 * On PostgreSQL 15 and versitygw 1.8 on the two cores of the load, 50 000 objects: what another server of this API
 * reached, and how many times that svc shall.
 */
const rows: Readonly<Record<string, readonly [other: number, times: number]>> = {
  'import 50000 objects': [2.05, 2],
  'stat, committed': [3095, 3],
  'list, 1000 entries a page': [402, 3],
  'list, 100 entries a page': [1659, 3],
  'create branch': [1847, 2],
  'create branch, one client': [15.9, 3],
  'stage write': [3839, 2],
  'stage write, one client': [8.9, 4],
  'stat on a branch with staged writes': [3010, 3],
  'commit 1 change': [121, 4],
  'diff 3 changes, first time': [67, 10],
  'merge, one side moved': [5.1, 2],
  'merge, both sides moved in one range': [177, 2],
  'API get 4 KiB': [1417, 1.5],
  'API put 4 KiB': [1089, 1.5],
  'S3 get 4 KiB': [1397, 1.5],
  'S3 put 4 KiB': [1035, 1.5],
  'S3 put 64 MiB, one client': [175, 1.5],
  'S3 get 64 MiB, four clients': [312, 1.5],
  'log of 1000 commits at most': [8.1, 1.5],
};

export const remoteGoals: Goals = {
  calibration: 35_700,
  rows: new Map(Object.entries(rows).map(([scenario, [other, times]]) => [scenario, { other, times }])),
};
