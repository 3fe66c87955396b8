import { Textarea } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Snippet } from '../../kit/basics.tsx';
import { FormDialog } from '../../kit/dialog.tsx';
import { MetadataFields } from '../../kit/metadata-fields.tsx';
import { client } from '../../lib/api.ts';
import { formatBytes, plural } from '../../lib/format.ts';
import { checkMetadata, toMetadata } from '../../lib/metadata-rules.ts';
import type { MetadataPair } from '../../lib/metadata-rules.ts';
import { readPreference, writePreference } from '../../lib/preferences.ts';
import { useWrite } from '../../lib/queries.ts';
import { commitSnippet } from '../../lib/snippets.ts';
import { useRepository } from '../shell/repository-context.tsx';

export function CommitDialog({
  branch,
  onClose,
  onDone,
}: {
  branch: string;
  onClose: () => void;
  onDone: () => void;
}): ReactNode {
  const repository = useRepository();
  const draft = `draft:${repository.id}:${branch}`;
  const [message, setMessage] = useState(() => readPreference(draft, ''));
  const [metadata, setMetadata] = useState<MetadataPair[]>([]);
  const [touched, setTouched] = useState(false);
  const summary = useQuery({
    queryKey: ['commit-summary', repository.id, branch],
    queryFn: async () => {
      const { pagination, results } = await client.get('/repositories/{repository}/branches/{branch}/diff', {
        params: { path: { repository: repository.id, branch }, query: { amount: 1000 } },
      });
      let bytes = 0;
      for (const { size_bytes = 0, type } of results) if (type !== 'removed') bytes += size_bytes;
      return { count: results.length, bytes, more: pagination.has_more };
    },
  }).data;
  const commit = useWrite(
    () =>
      client.post('/repositories/{repository}/branches/{branch}/commits', {
        params: { path: { repository: repository.id, branch } },
        body: { message, metadata: toMetadata(metadata) },
      }),
    ({ id }) => {
      writePreference(draft, undefined);
      notifications.show({ title: 'Committed', message: `${id.slice(0, 12)} on ${branch}`, autoClose: 4000 });
      onDone();
    },
  );
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={`Commit to ${branch}`}
      action="Commit"
      size={600}
      busy={commit.isPending}
      error={commit.error}
      onSubmit={() => {
        setTouched(true);
        if (checkMetadata(metadata).every((error) => error === undefined)) commit.mutate(undefined);
      }}
    >
      <div className="muted">
        {summary === undefined
          ? 'Counting changes …'
          : `${plural(summary.count, 'change')}${summary.more ? ' and more' : ''}, ${formatBytes(summary.bytes)} new. All of them become one commit.`}
      </div>
      <Textarea
        data-autofocus
        label="Message"
        placeholder="What changed and why"
        autosize
        minRows={2}
        maxRows={10}
        value={message}
        disabled={commit.isPending}
        onChange={(event) => {
          setMessage(event.currentTarget.value);
          writePreference(draft, event.currentTarget.value);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
            event.currentTarget.form?.requestSubmit();
        }}
      />
      <MetadataFields pairs={metadata} onChange={setMetadata} touched={touched} disabled={commit.isPending} />
      <Snippet code={commitSnippet(repository.id, branch)} />
    </FormDialog>
  );
}
