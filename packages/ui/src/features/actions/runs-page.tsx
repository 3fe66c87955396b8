import { Button, NativeSelect } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Plus, X, Zap } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ClearFilter, EmptyState, usePageTitle } from '../../kit/basics.tsx';
import { shortId } from '../../lib/format.ts';
import { useRepository } from '../shell/repository-context.tsx';
import { NewActionDialog } from './new-action-dialog.tsx';
import { DisabledNotice } from './disabled-notice.tsx';
import { RunsList, runResults, type RunFilter } from './runs-list.tsx';

const events = [
  'prepare-commit',
  ...[
    'commit',
    'merge',
    'create-branch',
    'delete-branch',
    'create-tag',
    'delete-tag',
    'revert',
    'cherry-pick',
  ].flatMap((operation) => [`pre-${operation}`, `post-${operation}`]),
];

export function RunsPage(): ReactNode {
  const repository = useRepository();
  const filter = useSearch({ from: '/app/repositories/$repo/actions' });
  const navigate = useNavigate({ from: '/repositories/$repo/actions' });
  const [creating, setCreating] = useState(false);
  usePageTitle('Actions', repository.id);
  const setFilter = (filter: RunFilter): void => void navigate({ search: filter });
  const { branch, commit, event = '', status = '' } = filter;
  const isOfRef = branch !== undefined || commit !== undefined;
  const isFiltered = isOfRef || event !== '' || status !== '';
  const create = repository.read_only !== true && (
    <Button leftSection={<Plus size={15} />} onClick={() => setCreating(true)}>
      New action
    </Button>
  );
  return (
    <>
      <div className="page-head">
        <h1>Actions</h1>
        <div className="right row">
          {isOfRef && (
            <Button
              variant="default"
              size="xs"
              rightSection={<X size={13} aria-hidden />}
              aria-label="Remove filter"
              onClick={() => setFilter({ ...filter, branch: undefined, commit: undefined })}
            >
              {branch === undefined ? `commit ${shortId(commit ?? '')}` : `branch ${branch}`}
            </Button>
          )}
          <NativeSelect
            size="xs"
            aria-label="Event"
            value={event}
            data={[{ value: '', label: 'Every event' }, ...events]}
            onChange={({ currentTarget }) =>
              setFilter({ ...filter, event: currentTarget.value || undefined })
            }
          />
          <NativeSelect
            size="xs"
            aria-label="Result"
            value={status}
            data={[{ value: '', label: 'Every result' }, ...runResults]}
            onChange={({ currentTarget }) =>
              setFilter({ ...filter, status: currentTarget.value || undefined })
            }
          />
          {create}
        </div>
      </div>
      <div className="stack">
        <DisabledNotice repository={repository.id} branch={repository.default_branch} />
        <div className="box">
          <RunsList
            repository={repository.id}
            filter={filter}
            onFilter={setFilter}
            empty={
              isFiltered ? (
                <EmptyState title="No runs match" actions={<ClearFilter onClear={() => setFilter({})} />} />
              ) : (
                <EmptyState
                  icon={<Zap size={36} aria-hidden />}
                  title="No runs yet"
                  actions={create}
                  snippet="svcctl actions validate my-action.yaml"
                >
                  Actions are YAML files below _svc_actions/. They call a webhook, start an Airflow DAG or run
                  a Lua script before or after commits, merges and changes of branches and tags. Each time one
                  runs it is listed here.
                </EmptyState>
              )
            }
          />
        </div>
      </div>
      {creating && (
        <NewActionDialog
          onClose={() => setCreating(false)}
          onDone={(ref, path) =>
            void navigate({
              to: '/repositories/$repo/object',
              params: { repo: repository.id },
              search: { ref, path },
            })
          }
        />
      )}
    </>
  );
}
