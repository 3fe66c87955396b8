import { Checkbox, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Snippet } from '../../kit/basics.tsx';
import { FormDialog } from '../../kit/dialog.tsx';
import { RefPicker } from '../../kit/ref-picker.tsx';
import { client } from '../../lib/api.ts';
import { useWrite } from '../../lib/queries.ts';
import { branchSnippet, tagSnippet } from '../../lib/snippets.ts';
import { useCurrentRef, useRepository } from '../shell/repository-context.tsx';

export function CreateRefDialog({
  kind,
  from,
  onClose,
  onBranch,
}: {
  kind: 'branch' | 'tag';
  /** Proposed as the source; else the default branch. */
  from?: string | undefined;
  onClose: () => void;
  /** What to do with the new branch; else it is shown. */
  onBranch?: (branch: string) => void;
}): ReactNode {
  const repository = useRepository();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [source, setSource] = useState(from ?? repository.default_branch);
  const [hidden, setHidden] = useState(false);
  const resolved = useCurrentRef(source).resolved;
  const path = { repository: repository.id };
  const create = useWrite(
    async (): Promise<void> => {
      if (kind === 'branch') {
        await client.post('/repositories/{repository}/branches', {
          params: { path },
          body: { name, source, ...(hidden && { hidden: true }) },
        });
      } else
        await client.post('/repositories/{repository}/tags', {
          params: { path },
          body: { id: name, ref: source },
        });
    },
    () => {
      onClose();
      if (onBranch !== undefined) onBranch(name);
      else if (kind === 'branch') {
        void navigate({
          to: '/repositories/$repo/objects',
          params: { repo: repository.id },
          search: { ref: name },
        });
      }
    },
  );
  const code = kind === 'branch' ? branchSnippet : tagSnippet;
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={kind === 'branch' ? 'Create branch' : 'Create tag'}
      action={kind === 'branch' ? 'Create branch' : 'Create tag'}
      busy={create.isPending}
      error={create.error}
      disabled={name === ''}
      onSubmit={() => create.mutate(undefined)}
    >
      <TextInput
        data-autofocus
        label={kind === 'branch' ? 'Branch name' : 'Tag name'}
        placeholder={kind === 'branch' ? 'experiment' : 'v1.0'}
        value={name}
        onChange={(event) => setName(event.currentTarget.value.trim())}
        autoComplete="off"
      />
      <div className="row">
        <span>From</span>
        <RefPicker
          repository={repository.id}
          defaultBranch={repository.default_branch}
          value={source}
          kind={resolved?.kind}
          onChange={setSource}
          label="Source"
        />
      </div>
      {kind === 'branch' && (
        <Checkbox
          label="Hidden from lists"
          checked={hidden}
          onChange={(event) => setHidden(event.currentTarget.checked)}
        />
      )}
      {name !== '' && <Snippet code={code(repository.id, name, source)} />}
    </FormDialog>
  );
}
