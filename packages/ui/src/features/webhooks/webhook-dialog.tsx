import { Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { FormDialog } from '../../kit/dialog.tsx';
import { RepositorySelect } from '../../kit/repository-select.tsx';
import { client } from '../../lib/api.ts';
import type { Subscription } from '../../lib/api.ts';
import { useWrite } from '../../lib/queries.ts';

const listOf = (text: string): string[] =>
  text
    .split(/[\s,]+/)
    .map((type) => type.trim())
    .filter((type) => type !== '');

/** Has events sent to an address, or changes what is sent. */
export function WebhookDialog({
  subscription,
  onClose,
  onDone,
}: {
  /** The one to change; else a new one. */
  subscription?: Subscription | undefined;
  onClose: () => void;
  /** A new one answers its secret, this once. */
  onDone: (id: string, secret: string | undefined) => void;
}): ReactNode {
  const [url, setUrl] = useState(subscription?.url ?? '');
  const [repository, setRepository] = useState(subscription?.repository ?? '');
  const [types, setTypes] = useState((subscription?.types ?? ['svc.*']).join(', '));
  const [format, setFormat] = useState<'cloudevents' | 's3'>(subscription?.format ?? 'cloudevents');
  const [ordering, setOrdering] = useState<'ref' | 'all'>(subscription?.ordering ?? 'ref');
  const [description, setDescription] = useState(subscription?.description ?? '');
  const save = useWrite(
    async (): Promise<{ id: string; secret: string | undefined }> => {
      const body = { url, types: listOf(types), format, ordering, description };
      if (subscription !== undefined) {
        const { id } = await client.patch('/events/subscriptions/{subscription}', {
          params: { path: { subscription: subscription.id } },
          body,
        });
        return { id, secret: undefined };
      }
      const { id, secret } = await client.post('/events/subscriptions', {
        body: { ...body, ...(repository !== '' && { repository }) },
      });
      return { id, secret };
    },
    ({ id, secret }) => onDone(id, secret),
  );
  const isNew = subscription === undefined;
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={isNew ? 'Create webhook' : 'Change webhook'}
      action={isNew ? 'Create webhook' : 'Save'}
      busy={save.isPending}
      error={save.error}
      disabled={url === ''}
      onSubmit={() => save.mutate(undefined)}
    >
      <TextInput
        data-autofocus
        type="url"
        label="Address"
        description="Public and https, unless the server's configuration allows its network."
        placeholder="https://hooks.example.com/svc"
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value.trim())}
        autoComplete="off"
      />
      {isNew && (
        <RepositorySelect
          label="Repository"
          placeholder="All repositories"
          value={repository}
          onChange={setRepository}
        />
      )}
      <TextInput
        label="Types of events"
        description="Separated by commas; a * at the end stands for anything."
        placeholder="svc.branch.*, svc.pull.merged"
        value={types}
        onChange={(event) => setTypes(event.currentTarget.value)}
        autoComplete="off"
      />
      <Select
        label="Format"
        data={[
          { value: 'cloudevents', label: 'CloudEvents' },
          { value: 's3', label: 'S3: the objects that changed in a branch' },
        ]}
        value={format}
        allowDeselect={false}
        onChange={(value) => setFormat(value === 's3' ? 's3' : 'cloudevents')}
      />
      <Select
        label="Order"
        data={[
          { value: 'ref', label: 'Per branch, tag or other subject' },
          { value: 'all', label: 'All events one after the other' },
        ]}
        value={ordering}
        allowDeselect={false}
        onChange={(value) => setOrdering(value === 'all' ? 'all' : 'ref')}
      />
      <TextInput
        label="Description"
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
