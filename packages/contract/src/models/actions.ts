import { Type } from 'typebox';
import { Pagination } from './common.ts';
import { dateTime, text, textOf } from './values.ts';

export const ActionRun = Type.Object(
  {
    run_id: text,
    branch: text,
    start_time: dateTime,
    end_time: Type.Optional(dateTime),
    event_type: text,
    status: textOf(['failed', 'completed', 'running']),
    commit_id: text,
    rerun_of: Type.Optional(text),
  },
  { title: 'ActionRun' },
);

export const ActionRunList = Type.Object(
  {
    pagination: Pagination,
    results: Type.Array(ActionRun),
  },
  { title: 'ActionRunList' },
);

export const ActionRunId = Type.Object({ run_id: text }, { title: 'ActionRunId' });

export const HookRun = Type.Object(
  {
    hook_run_id: text,
    action: text,
    hook_id: text,
    start_time: dateTime,
    end_time: Type.Optional(dateTime),
    status: textOf(['failed', 'completed', 'skipped', 'running']),
  },
  { title: 'HookRun' },
);

export const HookRunList = Type.Object(
  {
    pagination: Pagination,
    results: Type.Array(HookRun),
  },
  { title: 'HookRunList' },
);
