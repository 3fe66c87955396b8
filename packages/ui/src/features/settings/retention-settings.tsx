import { ActionIcon, Button, NumberInput, SegmentedControl, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Plus, Recycle, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { EmptyState, ErrorNotice, Skeletons, usePageTitle } from '../../kit/basics.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { GuardedButton } from '../../kit/guarded-button.tsx';
import { said } from '../../kit/said.ts';
import { client, isNotFound } from '../../lib/api.ts';
import { useWrite } from '../../lib/queries.ts';
import { collectionSnippet } from '../../lib/snippets.ts';
import { useRefusal, useRepository } from '../shell/repository-context.tsx';
import { CollectionRuns } from './collection-runs.tsx';

interface Rules {
  readonly default_retention_days: number;
  readonly branches: readonly { readonly branch_id: string; readonly retention_days: number }[];
}

function bodyOf({ default_retention_days, branches }: Rules) {
  return { default_retention_days, branches: branches.map((rule) => ({ ...rule })) };
}

const validDays = (days: unknown): boolean => Number.isInteger(days) && Number(days) >= 1;

export function RetentionSettings(): ReactNode {
  const repository = useRepository();
  usePageTitle('Garbage collection', repository.id);
  const path = { repository: repository.id };
  const refusalOf = useRefusal();
  const refusal = refusalOf('retention:SetGarbageCollectionRules');
  const runRefusal = refusalOf('retention:RunGarbageCollection');
  const [edited, setEdited] = useState<Rules>();
  const [view, setView] = useState('form');
  const [deleting, setDeleting] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ['gc-rules', repository.id],
    queryFn: async (): Promise<Rules | null> => {
      try {
        return await client.get('/repositories/{repository}/settings/gc_rules', { params: { path } });
      } catch (failure) {
        if (isNotFound(failure)) return null;
        throw failure;
      }
    },
  });
  const save = useWrite(
    (rules: Rules) =>
      client.put('/repositories/{repository}/settings/gc_rules', {
        params: { path },
        body: bodyOf(rules),
      }),
    () => {
      setEdited(undefined);
      said('Rules saved');
    },
  );
  const remove = useWrite(
    () => client.delete('/repositories/{repository}/settings/gc_rules', { params: { path } }),
    () => {
      setDeleting(false);
      setEdited(undefined);
      said('Rules deleted');
    },
  );
  const estimate = useWrite((rules: Rules) =>
    client.post('/repositories/{repository}/gc/runs', {
      params: { path },
      body: { dry_run: true, rules: bodyOf(rules) },
    }),
  );
  const rules = edited ?? data ?? undefined;
  const setBranch = (index: number, change: Partial<Rules['branches'][number]>): void => {
    if (rules === undefined) return;
    setEdited({
      ...rules,
      branches: rules.branches.map((rule, i) => (i === index ? { ...rule, ...change } : rule)),
    });
  };
  const valid =
    rules !== undefined &&
    validDays(rules.default_retention_days) &&
    rules.branches.every(({ branch_id, retention_days }) => branch_id !== '' && validDays(retention_days));
  return (
    <div className="stack">
      <div className="page-head flush">
        <h1>Garbage collection</h1>
        {rules !== undefined && (
          <SegmentedControl
            className="right"
            size="xs"
            aria-label="View"
            value={view}
            onChange={setView}
            data={[
              { value: 'form', label: 'Form' },
              { value: 'json', label: 'JSON' },
            ]}
          />
        )}
      </div>
      <div className="muted">
        Objects that were deleted or overwritten stay readable from older commits for this many days, then
        their space is freed.
      </div>
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeletons rows={3} />}
      {data === null && edited === undefined && (
        <div className="box">
          <EmptyState
            icon={<Recycle size={34} aria-hidden />}
            title="What is committed is kept for ever"
            actions={
              <GuardedButton
                reason={refusal}
                onClick={() =>
                  setEdited({
                    default_retention_days: 21,
                    branches: [{ branch_id: repository.default_branch, retention_days: 28 }],
                  })
                }
              >
                Set rules
              </GuardedButton>
            }
            snippet={collectionSnippet(repository.id)}
          >
            Without rules every object of every commit is kept for ever.
          </EmptyState>
        </div>
      )}
      {rules !== undefined && view === 'json' && (
        <pre className="box box-body scrolls-sideways" tabIndex={0} aria-label="Rules as JSON">
          {JSON.stringify(rules, null, 2)}
        </pre>
      )}
      {rules !== undefined && view === 'form' && (
        <>
          <NumberInput
            label="Days kept on every branch"
            w={220}
            min={1}
            allowDecimal={false}
            value={rules.default_retention_days}
            error={validDays(rules.default_retention_days) ? undefined : 'A whole number of days, at least 1'}
            onChange={(value) => setEdited({ ...rules, default_retention_days: Number(value) })}
          />
          <section className="box" aria-label="Branches with other days">
            <div className="box-head">
              <h2>Branches kept longer or shorter</h2>
            </div>
            {rules.branches.map((rule, index) => (
              <div key={index} className="diff-row top">
                <TextInput
                  className="grow"
                  aria-label={`Branch ${index + 1}`}
                  placeholder="Branch"
                  value={rule.branch_id}
                  error={rule.branch_id === '' ? 'A branch is required' : undefined}
                  onChange={(event) => setBranch(index, { branch_id: event.currentTarget.value })}
                />
                <NumberInput
                  aria-label={`Days for branch ${index + 1}`}
                  w={130}
                  min={1}
                  allowDecimal={false}
                  suffix=" days"
                  value={rule.retention_days}
                  error={validDays(rule.retention_days) ? undefined : 'At least 1'}
                  onChange={(value) =>
                    setBranch(index, { retention_days: typeof value === 'number' ? value : 0 })
                  }
                />
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size={36}
                  aria-label={`Remove branch ${index + 1}`}
                  onClick={() =>
                    setEdited({ ...rules, branches: rules.branches.filter((_, i) => i !== index) })
                  }
                >
                  <Trash2 size={15} />
                </ActionIcon>
              </div>
            ))}
            <div className="box-body">
              <Button
                variant="default"
                size="compact-sm"
                leftSection={<Plus size={14} />}
                onClick={() =>
                  setEdited({
                    ...rules,
                    branches: [
                      ...rules.branches,
                      { branch_id: '', retention_days: rules.default_retention_days },
                    ],
                  })
                }
              >
                Add branch
              </Button>
            </div>
          </section>
          {save.error !== null && <ErrorNotice error={save.error} />}
          {estimate.error !== null && <ErrorNotice error={estimate.error} />}
          <div className="row">
            <GuardedButton
              reason={refusal}
              loading={save.isPending}
              disabled={!valid || edited === undefined}
              onClick={() => save.mutate(rules)}
            >
              Save rules
            </GuardedButton>
            {edited !== undefined && (
              <Button variant="default" onClick={() => setEdited(undefined)}>
                Discard
              </Button>
            )}
            <GuardedButton
              variant="default"
              reason={runRefusal}
              loading={estimate.isPending}
              disabled={!valid}
              onClick={() => estimate.mutate(rules)}
            >
              What would they free?
            </GuardedButton>
            {data !== null && data !== undefined && (
              <span className="right">
                <GuardedButton variant="default" reason={refusal} onClick={() => setDeleting(true)}>
                  Delete rules
                </GuardedButton>
              </span>
            )}
          </div>
        </>
      )}
      <ConfirmDialog
        opened={deleting}
        onClose={() => setDeleting(false)}
        title="Delete rules"
        action="Delete rules"
        busy={remove.isPending}
        error={remove.error}
        onSubmit={() => remove.mutate(undefined)}
      >
        Without rules every object of every commit is kept.
      </ConfirmDialog>
      <CollectionRuns repository={repository.id} />
    </div>
  );
}
