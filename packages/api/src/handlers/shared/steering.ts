import { and, arn, one, type Requirement } from '@svc/auth';
import type { BodyOf, Operations } from '@svc/contract';
import { EngineError, resolvedCounts, type Commit, type MergeSteering, type Steering } from '@svc/engine';
import { Answer } from '../../answer/answer.ts';
import type { Call } from '../../call.ts';
import { factsView } from '../../views/conflict.ts';

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

export function mergeSteering(
  body: (ChangeBody & Pick<NonNullable<MergeBody>, 'expected_source'>) | undefined,
): MergeSteering {
  return body === undefined ? {} : { ...steering(body), expectedSource: body.expected_source };
}

function resolutionOf({ path, prefix, glob, take, conflict_id, object }: GivenResolution) {
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
    return Answer.json(409, { reference: '', message: 'conflict found', ...factsView(error.facts) });
  }
}
