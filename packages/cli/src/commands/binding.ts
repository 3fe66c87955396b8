import type { CommandContext } from '../context.ts';
import { UsageError } from '../errors.ts';

export interface BindingFlags {
  readonly pin?: boolean;
  readonly readOnly?: boolean;
  readonly message?: string;
}

/** What a bucket name is to mean, as the API takes it: the ref and path of a URI. */
export function bindingBody(
  { uris }: CommandContext,
  uriText: string,
  flags: BindingFlags,
): {
  repository: string;
  ref: string;
  prefix: string;
  pin: boolean;
  read_only: boolean;
  description: string;
} {
  const { repository, ref, path = '' } = uris.any(uriText, 'ref or path URI');
  if (ref === undefined || ref === '') throw new UsageError(`"${uriText}" names no ref`);
  return {
    repository,
    ref,
    prefix: path,
    pin: flags.pin === true,
    read_only: flags.readOnly === true,
    description: flags.message ?? '',
  };
}

/** `svc://sales/main/tables/`; of a pinned one the commit. */
export function placeOf(place: {
  readonly repository: string;
  readonly ref: string;
  readonly prefix: string;
  readonly pinned?: boolean;
  readonly commit_id?: string;
}): string {
  const { repository, ref, prefix, commit_id: commitId } = place;
  const isPinned = place.pinned ?? commitId !== undefined;
  const shown = isPinned && commitId !== undefined ? commitId.slice(0, 12) : ref;
  return `svc://${repository}/${shown}${prefix === '' ? '' : `/${prefix}`}`;
}
