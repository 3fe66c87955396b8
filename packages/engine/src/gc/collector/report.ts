import {
  garbageClasses,
  type GarbageClass,
  type GcClassReport,
  type GcCount,
  type GcReport,
} from '../../face/gc-runs.ts';
import type { UnknownUploads } from '../../uploads/sweep-uploads.ts';
import type { Condemned } from './condemn.ts';
import type { Listing } from './find-garbage.ts';
import type { ClassTally } from './tally.ts';

/** What a run tells of itself. */
export function reportOf(
  listing: Listing,
  { classes, nextDue }: Condemned,
  more: readonly GcClassReport[],
  told: Pick<GcReport, 'dryRun' | 'cutoff' | 'location' | 'roots' | 'storeDeletion'>,
): GcReport {
  return {
    ...told,
    cutoff: Math.floor(told.cutoff / 1000),
    listed: count(listing.listed),
    live: count(listing.live),
    unknown: count(listing.unknown),
    held: [...listing.held].map(([repository, tally]) => ({ repository, count: count(tally) })),
    classes: [...garbageClasses.map((name) => row(name, classes[name])), ...more],
    nextDue: nextDue === undefined ? undefined : Math.ceil(nextDue / 1000),
  };
}

/** The store does not say how large unfinished uploads are. */
export function uploadsRow({ found, ended, failed }: UnknownUploads): GcClassReport {
  const uploads = (objects: number): GcCount => ({ objects, bytes: 0 });
  return {
    class: 'uploads',
    garbage: uploads(found),
    condemned: uploads(0),
    due: uploads(found),
    deleted: uploads(ended),
    rescued: uploads(0),
    failed: uploads(failed),
  };
}

function row(name: GarbageClass, tally: ClassTally): GcClassReport {
  return {
    class: name,
    garbage: count(tally.garbage),
    condemned: count(tally.condemned),
    due: count(tally.due),
    deleted: count(tally.deleted),
    rescued: count(tally.rescued),
    failed: count(tally.failed),
  };
}

function count({ objects, bytes }: GcCount): GcCount {
  return { objects, bytes };
}
