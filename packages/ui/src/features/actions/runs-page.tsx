import { Button } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Plus, X, Zap } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ClearFilter, EmptyState, usePageTitle } from '../../kit/basics.tsx';
import { shortId } from '../../lib/format.ts';
import { useRepository } from '../shell/repository-context.tsx';
import { NewActionDialog } from './new-action-dialog.tsx';
import { RunsList, type RunFilter } from './runs-list.tsx';

export function RunsPage(): ReactNode {
  const repository = useRepository();
  const { branch, commit } = useSearch({ from: '/app/repositories/$repo/actions' });
  const navigate = useNavigate({ from: '/repositories/$repo/actions' });
  const [creating, setCreating] = useState(false);
  usePageTitle('Actions', repository.id);
  const setFilter = (filter: RunFilter): void => void navigate({ search: filter });
  const isFiltered = branch !== undefined || commit !== undefined;
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
          {isFiltered && (
            <Button
              variant="default"
              size="xs"
              rightSection={<X size={13} aria-hidden />}
              aria-label="Remove filter"
              onClick={() => setFilter({})}
            >
              {branch === undefined ? `commit ${shortId(commit ?? '')}` : `branch ${branch}`}
            </Button>
          )}
          {create}
        </div>
      </div>
      <div className="box">
        <RunsList
          repository={repository.id}
          filter={{ branch, commit }}
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
                Actions are YAML files below _svc_actions/. They call a webhook, start an Airflow DAG or run a
                Lua script before or after commits, merges and changes of branches and tags. Each time one
                runs it is listed here.
              </EmptyState>
            )
          }
        />
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
