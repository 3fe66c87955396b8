import { Type } from 'typebox';
import { Pagination } from './common.ts';
import { GarbageCollectionRules } from './garbage-collection.ts';
import { dateTime, flag, int64, offFlag, text, textOf } from './values.ts';

const gcClass = textOf(['objects', 'metadata', 'uploads']);

export const GcRunCreation = Type.Object(
  {
    dry_run: Type.Optional(offFlag),
    hard: Type.Optional(offFlag),
    classes: Type.Optional(Type.Array(gcClass, { minItems: 1 })),
    max_percent: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
    take_over: Type.Optional(offFlag),
    rules: Type.Optional(GarbageCollectionRules),
  },
  { title: 'GcRunCreation' },
);

export const GcRunId = Type.Object({ id: text }, { title: 'GcRunId' });

export const GcCount = Type.Object({ objects: int64, bytes: int64 }, { title: 'GcCount' });

export const GcClassReport = Type.Object(
  {
    class: textOf(['expired', 'uncommitted', 'tables', 'commits', 'uploads']),
    garbage: GcCount,
    condemned: GcCount,
    due: GcCount,
    deleted: GcCount,
    rescued: GcCount,
    failed: GcCount,
  },
  { title: 'GcClassReport' },
);

export const GcRootReport = Type.Object(
  {
    root: textOf(['branch', 'tags', 'reflog', 'bindings', 'keeps']),
    branch_id: Type.Optional(text),
    commits: int64,
    objects: int64,
    bytes: int64,
    only_objects: int64,
    only_bytes: int64,
  },
  { title: 'GcRootReport' },
);

export const GcHeldReport = Type.Object({ repository: text, count: GcCount }, { title: 'GcHeldReport' });

export const GcReport = Type.Object(
  {
    dry_run: flag,
    cutoff: int64,
    listed: GcCount,
    live: GcCount,
    unknown: GcCount,
    held: Type.Array(GcHeldReport),
    classes: Type.Array(GcClassReport),
    roots: Type.Optional(Type.Array(GcRootReport)),
    next_due: Type.Optional(int64),
    store_deletion: textOf(['final', 'versioned', 'soft', 'unknown']),
    location: text,
  },
  { title: 'GcReport' },
);

export const GcRun = Type.Object(
  {
    id: text,
    state: textOf(['queued', 'running', 'completed', 'failed', 'canceled']),
    phase: Type.Optional(textOf(['marking', 'comparing', 'sweeping', 'reporting'])),
    options: GcRunCreation,
    user: text,
    creation_date: int64,
    start_date: Type.Optional(int64),
    end_date: Type.Optional(int64),
    update_time: dateTime,
    done: int64,
    total: Type.Optional(int64),
    report: Type.Optional(GcReport),
    error: Type.Optional(Type.Object({ message: text })),
  },
  { title: 'GcRun' },
);

export const GcRunList = Type.Object(
  { pagination: Pagination, results: Type.Array(GcRun) },
  { title: 'GcRunList' },
);

export const GcObject = Type.Object(
  { address: text, size_bytes: int64, class: text, condemned_at: int64 },
  { title: 'GcObject' },
);

export const GcObjectList = Type.Object(
  { pagination: Pagination, results: Type.Array(GcObject) },
  { title: 'GcObjectList' },
);

export const GcQuarantine = Type.Object(
  { objects: int64, bytes: int64, oldest: Type.Optional(int64), next_due: Type.Optional(int64) },
  { title: 'GcQuarantine' },
);

export const GcRescue = Type.Object(
  { ref: Type.Optional(text), days: Type.Optional(Type.Integer()), all: Type.Optional(offFlag) },
  { title: 'GcRescue' },
);

export const GcSettings = Type.Object(
  {
    enabled: textOf(['inherit', 'on', 'off']),
    interval_hours: Type.Optional(Type.Integer()),
    quarantine_hours: Type.Optional(Type.Integer()),
  },
  { title: 'GcSettings' },
);
