import { and, arn, one, type Requirement } from '@svc/auth';
import type { BodyOf, Operations } from '@svc/contract';
import {
  EngineError,
  resolvedCounts,
  type Addition,
  type Commit,
  type MergeSteering,
  type Resolution,
  type Steering,
} from '@svc/engine';
import { Answer } from '../../answer/answer.ts';
import type { Call } from '../../call.ts';
import type { AppendTable } from '../../options.ts';
import { factsView } from '../../views/conflict.ts';
import { tableAt } from '../../views/table-at.ts';

type MergeBody = BodyOf<Operations['mergeIntoBranch']>;
type ChangeBody = Pick<BodyOf<Operations['cherryPick']>, 'expected_destination' | 'strategy' | 'resolutions'>;
type Resolutions = ChangeBody['resolutions'];
type GivenResolution = NonNullable<Resolutions>[number];

export function steering(body: ChangeBody): Steering {
  return {
    strategy: body.strategy,
    expectedDestination: body.expected_destination,
    resolutions: body.resolutions?.map(resolutionOf),
  };
}

/** How a merge settles conflicts. Tables that are to be appended to are made for it. */
export async function mergeSteering(
  call: Pick<Call, 'ensure'>,
  appendTable: AppendTable | undefined,
  refs: { readonly repository: string; readonly source: string; readonly destination: string },
  body: (ChangeBody & Pick<NonNullable<MergeBody>, 'expected_source'>) | undefined,
): Promise<MergeSteering & { readonly additions?: readonly Addition[] }> {
  if (body === undefined) return {};
  const { resolutions = [] } = body;
  if (!resolutions.some(isAppend)) {
    return { ...steering(body), expectedSource: body.expected_source };
  }
  const settled: Resolution[] = [];
  const additions: Addition[] = [];
  for (const [index, given] of resolutions.entries()) {
    if (!isAppend(given)) {
      settled.push(resolutionOf(given));
      continue;
    }
    try {
      const made = await appendOf(call, appendTable, refs, given);
      settled.push(made.resolution);
      additions.push(...made.additions);
    } catch (error) {
      throw error instanceof EngineError ? within(`resolutions[${index}]`, error) : error;
    }
  }
  return {
    ...steering({ ...body, resolutions: [] }),
    expectedSource: body.expected_source,
    resolutions: settled,
    additions,
  };
}

function isAppend({ take }: GivenResolution): boolean {
  return take === 'append';
}

async function appendOf(
  call: Pick<Call, 'ensure'>,
  appendTable: AppendTable | undefined,
  refs: { readonly repository: string; readonly source: string; readonly destination: string },
  { path, object, conflict_id: conflictId }: GivenResolution,
): Promise<Awaited<ReturnType<AppendTable>>> {
  const table = tableAt(path ?? '');
  if (path === undefined || table === undefined || object !== undefined) {
    throw invalid('take "append" needs the path of a table: [<namespace>/]_iceberg/tables/<name>.json');
  }
  if (appendTable === undefined) throw invalid('take "append" is not offered here');
  let made;
  try {
    made = await appendTable({ ...refs, path, ensure: async (requirement) => call.ensure(requirement) });
  } catch (error) {
    throw error instanceof EngineError ? within(`table ${table}`, error) : error;
  }
  if (conflictId !== undefined && conflictId !== made.resolution.conflictId) {
    throw new EngineError('precondition_failed', `the conflict is another one now: look at it again`, {
      subject: 'branch',
      facts: { moved: { paths: [path] } },
    });
  }
  return made;
}

function invalid(message: string): EngineError {
  return new EngineError('invalid', message, { subject: 'object' });
}

/** Says where, and keeps everything else. */
function within(where: string, error: EngineError): EngineError {
  const { kind, message, subject, facts } = error;
  return new EngineError(kind, `${where}: ${message}`, {
    cause: error,
    ...(subject !== undefined && { subject }),
    ...(facts !== undefined && { facts }),
  });
}

function resolutionOf({ path, prefix, glob, take, conflict_id, object }: GivenResolution): Resolution {
  if (take === 'append') throw invalid('take "append" is for merges only');
  return {
    path,
    prefix,
    glob,
    take,
    conflictId: conflict_id,
    object: object && {
      physicalAddress: object.physical_address,
      checksum: object.checksum,
      size: object.size_bytes,
      contentType: object.content_type,
      metadata: object.user_metadata,
      mtime: object.mtime,
    },
  };
}

/** A resolution that writes what neither side holds needs the right to write it, a pattern that to every object. */
export async function ensureResolutions(
  call: Pick<Call, 'ensure'> & { readonly params: { readonly repository: string } },
  resolutions: Resolutions,
): Promise<void> {
  const needed = new Map<string, Requirement>();
  for (const { path, take } of resolutions ?? []) {
    const action = takeActions[take];
    if (action === undefined) continue;
    const resource = arn.object(call.params.repository, path ?? '*');
    needed.set(`${action} ${resource}`, one(action, resource));
  }
  if (needed.size > 0) await call.ensure(and(...needed.values()));
}

const takeActions: Partial<Record<GivenResolution['take'], string>> = {
  object: 'fs:WriteObject',
  append: 'fs:WriteObject',
  base: 'fs:WriteObject',
  delete: 'fs:DeleteObject',
};

/** Merges, and answers conflicts in the shape of a merge result: clients expect it; the message is for people. */
export async function mergeAnswer(
  body: { readonly resolutions?: Resolutions } | undefined,
  merge: () => Promise<Commit>,
) {
  try {
    const commit = await merge();
    if (body?.resolutions === undefined) return { reference: commit.id };
    return { reference: commit.id, resolved: resolvedCounts(commit) };
  } catch (error) {
    if (!(error instanceof EngineError) || error.kind !== 'conflict') throw error;
    return Answer.json(409, { reference: '', message: conflictMessage(error), ...factsView(error.facts) });
  }
}

const namedTables = 10;

/** A table is named: nobody knows it by the object that is in conflict. */
function conflictMessage({ facts }: EngineError): string {
  const paths = facts?.conflicts?.results.map(({ path }) => path) ?? [facts?.conflictAt ?? ''];
  const tables = paths.flatMap((path) => tableAt(path) ?? []);
  if (tables.length === 0) return 'conflict found';
  const more = tables.length > namedTables ? ' and others' : '';
  const names = `${tables.slice(0, namedTables).join(', ')}${more}`;
  return `conflict found: both sides changed ${tables.length === 1 ? 'table' : 'tables'} ${names}`;
}
