import { ActionIcon, Button, TextInput } from '@mantine/core';
import { ApiError } from '@svc/client';
import { useQuery } from '@tanstack/react-query';
import { Lock, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { EmptyState, ErrorNotice, Notice, Skeletons, usePageTitle } from '../../kit/basics.tsx';
import { client } from '../../lib/api.ts';
import { rulesFor } from '../../lib/protection.ts';
import { useWrite } from '../../lib/queries.ts';
import { protectSnippet } from '../../lib/snippets.ts';
import { useRefusal, useRepository } from '../shell/repository-context.tsx';

type Change = { readonly add: string } | { readonly remove: string };

export function ProtectionSettings(): ReactNode {
  const repository = useRepository();
  usePageTitle('Branch protection', repository.id);
  const path = { repository: repository.id };
  const refusal = useRefusal()('branches:SetBranchProtectionRules');
  const [pattern, setPattern] = useState('');
  const [tested, setTested] = useState('');
  const read = async (): Promise<{ rules: string[]; etag: string | undefined }> => {
    const { data, header } = await client.getWithHeaders(
      '/repositories/{repository}/settings/branch_protection',
      {
        params: { path },
      },
    );
    return { rules: data.map((rule) => rule.pattern), etag: header('etag') };
  };
  const { data, error, refetch } = useQuery({ queryKey: ['protection', repository.id], queryFn: read });
  // Apply the change to the current rules; if somebody else was faster, apply it again.
  const save = useWrite(
    async (change: Change): Promise<void> => {
      for (let attempt = 0; ; attempt++) {
        const { rules, etag } = await read();
        const next =
          'add' in change
            ? [...rules.filter((rule) => rule !== change.add), change.add]
            : rules.filter((rule) => rule !== change.remove);
        try {
          await client.put('/repositories/{repository}/settings/branch_protection', {
            params: { path, header: etag === undefined ? {} : { 'If-Match': etag } },
            body: next.map((rule) => ({ pattern: rule })),
          });
          return;
        } catch (failure) {
          if (!(failure instanceof ApiError && failure.status === 412) || attempt >= 3) throw failure;
        }
      }
    },
    () => setPattern(''),
  );
  const matching = rulesFor(tested, data?.rules ?? []);
  return (
    <div className="stack">
      <h1 className="page-title">Branch protection</h1>
      <div className="muted">
        A protected branch refuses uploads and direct commits. It changes only by merging, so that what is on
        it was looked at before.
      </div>
      {refusal !== undefined && <Notice>{refusal}</Notice>}
      <form
        className="row bottom"
        onSubmit={(event) => {
          event.preventDefault();
          if (pattern.trim() !== '') save.mutate({ add: pattern.trim() });
        }}
      >
        <TextInput
          label="Pattern"
          description="* is any text, ? one character"
          placeholder="main or release-*"
          w={280}
          value={pattern}
          onChange={(event) => setPattern(event.currentTarget.value)}
        />
        <Button
          type="submit"
          leftSection={<Plus size={15} />}
          loading={save.isPending}
          disabled={pattern.trim() === '' || refusal !== undefined}
        >
          Add rule
        </Button>
      </form>
      {save.error !== null && <ErrorNotice error={save.error} />}
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      <section className="box" aria-label="Rules">
        {data === undefined && error === null && <Skeletons rows={2} />}
        {data?.rules.length === 0 && (
          <EmptyState
            icon={<Lock size={34} aria-hidden />}
            title="No branch is protected"
            snippet={protectSnippet(repository.id, repository.default_branch)}
          >
            Protect the branch others rely on, and work on branches of your own.
          </EmptyState>
        )}
        {data?.rules.map((rule) => (
          <div key={rule} className="diff-row">
            <Lock size={15} aria-hidden className="muted" />
            <code className="grow wrap">{rule}</code>
            <ActionIcon
              variant="subtle"
              color="gray"
              size={28}
              aria-label={`Delete rule ${rule}`}
              disabled={refusal !== undefined}
              onClick={() => save.mutate({ remove: rule })}
            >
              <Trash2 size={15} />
            </ActionIcon>
          </div>
        ))}
      </section>
      {data !== undefined && data.rules.length > 0 && (
        <div className="row bottom">
          <TextInput
            label="Is this branch protected?"
            placeholder="Branch name"
            w={280}
            value={tested}
            onChange={(event) => setTested(event.currentTarget.value)}
          />
          {tested !== '' && (
            <span className="beside-field" role="status">
              {matching.length === 0 ? 'No rule matches.' : `Yes, by ${matching.join(', ')}.`}
            </span>
          )}
        </div>
      )}
    </div>
  );
}
