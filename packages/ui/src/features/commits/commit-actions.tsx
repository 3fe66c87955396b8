import { Button, Menu, TextInput } from '@mantine/core';
import { ApiError } from '@svc/client';
import { useNavigate } from '@tanstack/react-router';
import { ChevronDown } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ConfirmDialog, FormDialog } from '../../kit/dialog.tsx';
import { RefPicker } from '../../kit/ref-picker.tsx';
import { client } from '../../lib/api.ts';
import { shortId } from '../../lib/format.ts';
import { useWrite } from '../../lib/queries.ts';
import { useRefusal, useRepository } from '../shell/repository-context.tsx';

type Asked = 'branch' | 'tag' | 'cherry-pick' | 'revert' | 'reset';

const ofBranches: ReadonlySet<Asked> = new Set(['cherry-pick', 'revert', 'reset']);

/** Actions on a commit: branch, tag, cherry-pick, revert, reset to it. */
export function CommitActions({
  commitId,
  parents,
  onConflict,
}: {
  commitId: string;
  parents: readonly string[];
  /** The commit cannot be applied to a branch before somebody settles conflicts. */
  onConflict: (branch: string) => void;
}): ReactNode {
  const repository = useRepository();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<Asked>();
  const [name, setName] = useState('');
  const path = { repository: repository.id };
  const refusal = useRefusal();
  /** An entry that cannot be used says why. */
  const guard = (action: string): { disabled: boolean; title?: string } => {
    const reason = refusal(action);
    return reason === undefined ? { disabled: false } : { disabled: true, title: reason };
  };
  const done = (): void => setAsked(undefined);
  const work = useWrite(async (what: Asked): Promise<void> => {
    switch (what) {
      case 'branch':
        await client.post('/repositories/{repository}/branches', {
          params: { path },
          body: { name, source: commitId },
        });
        done();
        await navigate({
          to: '/repositories/$repo/objects',
          params: { repo: repository.id },
          search: { ref: name },
        });
        break;
      case 'tag':
        await client.post('/repositories/{repository}/tags', {
          params: { path },
          body: { id: name, ref: commitId },
        });
        done();
        break;
      case 'cherry-pick':
        try {
          await client.post('/repositories/{repository}/branches/{branch}/cherry-pick', {
            params: { path: { ...path, branch: name } },
            body: { ref: commitId, ...(parents.length > 1 && { parent_number: 1 }) },
          });
        } catch (error) {
          if (!(error instanceof ApiError) || error.status !== 409) throw error;
          done();
          onConflict(name);
          return;
        }
        done();
        await navigate({
          to: '/repositories/$repo/commits',
          params: { repo: repository.id },
          search: { ref: name },
        });
        break;
      case 'revert':
        await navigate({
          to: '/repositories/$repo/branches/$branch/revert',
          params: { repo: repository.id, branch: name },
          search: { commits: commitId },
        });
        break;
      case 'reset':
        await client.put('/repositories/{repository}/branches/{branch}/hard_reset', {
          params: { path: { ...path, branch: name }, query: { ref: commitId } },
        });
        done();
        await navigate({
          to: '/repositories/$repo/commits',
          params: { repo: repository.id },
          search: { ref: name },
        });
    }
  });
  const ask = (what: Asked): void => {
    work.reset();
    setName(ofBranches.has(what) ? repository.default_branch : '');
    setAsked(what);
  };
  const titles: Record<Asked, readonly [title: string, label: string, action: string]> = {
    branch: ['Create branch here', 'Branch name', 'Create branch'],
    tag: ['Create tag here', 'Tag name', 'Create tag'],
    'cherry-pick': ['Apply this commit to a branch', 'Branch', 'Apply'],
    revert: ['Undo this commit on a branch', 'Branch', 'Continue'],
    reset: ['Reset a branch to this commit', 'Branch', 'Reset branch'],
  };
  const words = asked === undefined ? undefined : titles[asked];
  const picker = (
    <div>
      <RefPicker
        repository={repository.id}
        defaultBranch={repository.default_branch}
        value={name}
        onChange={setName}
        branchesOnly
      />
    </div>
  );
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" rightSection={<ChevronDown size={14} />}>
            Actions
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item {...guard('fs:CreateBranch')} onClick={() => ask('branch')}>
            Create branch here
          </Menu.Item>
          <Menu.Item {...guard('fs:CreateTag')} onClick={() => ask('tag')}>
            Create tag here
          </Menu.Item>
          <Menu.Item {...guard('fs:CreateCommit')} onClick={() => ask('cherry-pick')}>
            Cherry-pick onto …
          </Menu.Item>
          {parents.length > 0 && (
            <Menu.Item {...guard('fs:RevertBranch')} onClick={() => ask('revert')}>
              Revert on …
            </Menu.Item>
          )}
          <Menu.Item
            onClick={() =>
              void navigate({
                to: '/repositories/$repo/compare',
                params: { repo: repository.id },
                search: { ref: repository.default_branch, compare: commitId },
              })
            }
          >
            Compare with {repository.default_branch}
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item c="var(--svc-removed)" {...guard('fs:RevertBranch')} onClick={() => ask('reset')}>
            Reset a branch to here
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {asked === 'reset' ? (
        <ConfirmDialog
          opened
          onClose={done}
          title={titles.reset[0]}
          action={titles.reset[2]}
          typed={name}
          busy={work.isPending}
          error={work.error ?? undefined}
          onSubmit={() => work.mutate('reset')}
        >
          {picker}
          <p>
            The branch will point to {shortId(commitId)}; commits after it are no longer part of the branch. A
            branch with uncommitted changes is refused.
          </p>
        </ConfirmDialog>
      ) : (
        words !== undefined && (
          <FormDialog
            opened
            onClose={done}
            title={words[0]}
            action={words[2]}
            busy={work.isPending}
            error={work.error ?? undefined}
            disabled={name === ''}
            onSubmit={() => asked !== undefined && work.mutate(asked)}
          >
            {asked !== undefined && ofBranches.has(asked) ? (
              picker
            ) : (
              <TextInput
                data-autofocus
                label={words[1]}
                value={name}
                onChange={(event) => setName(event.currentTarget.value.trim())}
              />
            )}
          </FormDialog>
        )
      )}
    </>
  );
}
