import type { GcReport, GcRootReport } from '../../face/gc-runs.ts';

/** A report as files and answers spell it. */
export function reportToJson(report: GcReport) {
  return {
    dry_run: report.dryRun,
    cutoff: report.cutoff,
    listed: report.listed,
    live: report.live,
    unknown: report.unknown,
    held: report.held.map((held) => ({ ...held })),
    classes: report.classes.map((row) => ({ ...row })),
    roots: report.roots?.map(({ branch, onlyObjects, onlyBytes, ...root }) => ({
      ...root,
      branch_id: branch,
      only_objects: onlyObjects,
      only_bytes: onlyBytes,
    })),
    next_due: report.nextDue,
    store_deletion: report.storeDeletion,
    location: report.location,
  };
}

type JsonRoots = ReturnType<typeof reportToJson>['roots'];

export function rootsFromJson(roots: JsonRoots): GcRootReport[] | undefined {
  return roots?.map(({ branch_id: branch, only_objects: onlyObjects, only_bytes: onlyBytes, ...root }) => ({
    ...root,
    ...(branch === undefined ? {} : { branch }),
    onlyObjects,
    onlyBytes,
  }));
}
