import { Button, Textarea, TextInput } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { EmptyState, ErrorNotice, usePageTitle } from '../../kit/basics.tsx';
import { RefPicker } from '../../kit/ref-picker.tsx';
import { client } from '../../lib/api.ts';
import { useWrite } from '../../lib/queries.ts';
import { CountsLine, useDiffCounts } from '../changes/compare-page.tsx';
import { DiffBox } from '../changes/diff-box.tsx';
import { refsSource } from '../changes/sources.ts';
import { useRepository } from '../shell/repository-context.tsx';

export function CreatePullPage(): ReactNode {
  const repository = useRepository();
  const search = useSearch({ from: '/app/repositories/$repo/pulls/create' });
  const navigate = useNavigate({ from: '/repositories/$repo/pulls/create' });
  usePageTitle('New pull request', repository.id);
  const base = search.ref ?? repository.default_branch;
  const head = search.compare ?? base;
  const [title, setTitle] = useState('');
  const [description, setDescription] = useState('');
  const same = base === head;
  const counts = useDiffCounts(repository.id, base, head, !same).data;
  const create = useWrite(
    () =>
      client.post('/repositories/{repository}/pulls', {
        params: { path: { repository: repository.id } },
        body: { title: title.trim(), description, source_branch: head, destination_branch: base },
      }),
    ({ id }) => void navigate({ to: '/repositories/$repo/pulls/$id', params: { repo: repository.id, id } }),
  );
  const picker = { repository: repository.id, defaultBranch: repository.default_branch, branchesOnly: true };
  return (
    <div className="stack">
      <h1 className="page-title">New pull request</h1>
      <div className="row">
        <RefPicker
          {...picker}
          label="Base"
          value={base}
          onChange={(ref) => void navigate({ search: { ref, compare: head } })}
        />
        <ArrowLeft size={16} aria-label="takes changes from" />
        <RefPicker
          {...picker}
          label="Head"
          value={head}
          onChange={(compare) => void navigate({ search: { ref: base, compare } })}
        />
      </div>
      <form
        className="stack readable"
        onSubmit={(event) => {
          event.preventDefault();
          if (title.trim() !== '') create.mutate(undefined);
        }}
      >
        <TextInput
          label="Title"
          required
          withAsterisk={false}
          value={title}
          onChange={(event) => setTitle(event.currentTarget.value)}
        />
        <Textarea
          label="Description"
          description="Markdown"
          autosize
          minRows={4}
          value={description}
          onChange={(event) => setDescription(event.currentTarget.value)}
        />
        {create.error !== null && <ErrorNotice error={create.error} />}
        <div>
          <Button
            type="submit"
            loading={create.isPending}
            disabled={title.trim() === '' || same || counts === undefined || counts.total === 0}
          >
            Create pull request
          </Button>
        </div>
      </form>
      {same ? (
        <EmptyState title="Choose two different branches">
          The base receives the changes of the head.
        </EmptyState>
      ) : (
        <DiffBox
          label="Changes"
          title="Changes"
          extra={counts !== undefined && <CountsLine {...counts} />}
          source={refsSource(repository.id, base, head)}
          empty={<EmptyState title="No differences">Commit a change on {head} first.</EmptyState>}
        />
      )}
    </div>
  );
}
