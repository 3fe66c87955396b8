import { Checkbox, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { RepositorySelect } from '../../kit/repository-select.tsx';
import { RefPicker } from '../../kit/ref-picker.tsx';
import type { BucketBinding } from '../../lib/api.ts';
import { refQuery, repositoryQuery } from '../../lib/queries.ts';

export interface Target {
  readonly repository: string;
  /** Empty: the default branch of the repository. */
  readonly ref: string;
  readonly prefix: string;
  readonly pin: boolean;
  readonly readOnly: boolean;
}

export const noTarget: Target = { repository: '', ref: '', prefix: '', pin: false, readOnly: false };

export function useTarget(target: Target): {
  readonly binding: BucketBinding;
  readonly commitId: string | undefined;
} {
  const { data: repository } = useQuery({
    ...repositoryQuery(target.repository),
    enabled: target.repository !== '',
  });
  const ref = target.ref === '' ? (repository?.default_branch ?? '') : target.ref;
  const resolved = useQuery(refQuery(target.repository, ref)).data;
  const { prefix, pin, readOnly } = target;
  return {
    binding: { repository: target.repository, ref, prefix, pin, read_only: readOnly },
    commitId: resolved?.commitId,
  };
}

/** What a bucket is to show: repository, ref or time, folder. */
export function BindingFields({
  target,
  onChange,
}: {
  target: Target;
  onChange: (target: Target) => void;
}): ReactNode {
  const { binding } = useTarget(target);
  const resolved = useQuery(refQuery(binding.repository, binding.ref)).data;
  const { data: repository } = useQuery({
    ...repositoryQuery(target.repository),
    enabled: target.repository !== '',
  });
  const set = (change: Partial<Target>): void => onChange({ ...target, ...change });
  return (
    <>
      <RepositorySelect
        label="Repository"
        value={target.repository}
        onChange={(chosen) => set({ repository: chosen, ref: '' })}
      />
      {repository !== undefined && (
        <div className="row">
          <RefPicker
            repository={repository.id}
            defaultBranch={repository.default_branch}
            value={binding.ref}
            kind={resolved?.kind}
            onChange={(ref) => set({ ref })}
            label="Shows"
          />
        </div>
      )}
      <TextInput
        label="Folder"
        description="Empty: everything. The keys of the bucket are the paths below it."
        placeholder="tables/"
        value={target.prefix}
        onChange={(event) => set({ prefix: event.currentTarget.value })}
        autoComplete="off"
      />
      <Checkbox
        label="Pin to the commit of this moment"
        checked={target.pin}
        onChange={(event) => set({ pin: event.currentTarget.checked })}
      />
      <Checkbox
        label="Read-only"
        description="Otherwise writes go to the branch, if it shows one."
        checked={target.readOnly}
        onChange={(event) => set({ readOnly: event.currentTarget.checked })}
      />
    </>
  );
}
