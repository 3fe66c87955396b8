import { Checkbox, Select, TextInput } from '@mantine/core';
import { ApiError } from '@svc/client';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Notice, Snippet } from '../../kit/basics.tsx';
import { FormDialog } from '../../kit/dialog.tsx';
import { client } from '../../lib/api.ts';
import { useStorages, useWrite } from '../../lib/queries.ts';
import { createRepositorySnippet } from '../../lib/snippets.ts';

const idRule = /^[a-z0-9][a-z0-9-]{2,62}$/;

function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern).test(text);
  } catch {
    return true;
  }
}

export function CreateRepositoryDialog({
  sample,
  onClose,
  onCreated,
}: {
  sample: boolean;
  onClose: () => void;
  onCreated: (id: string) => void;
}): ReactNode {
  const storages = useStorages();
  const [name, setName] = useState('');
  const [branch, setBranch] = useState('main');
  const [storageId, setStorageId] = useState(storages[0]?.blockstore_id ?? '');
  const [typedNamespace, setTypedNamespace] = useState<string>();
  const [withSample, setWithSample] = useState(sample);
  const [readOnly, setReadOnly] = useState(false);
  const [bare, setBare] = useState(false);
  const storage = storages.find((one) => (one.blockstore_id ?? '') === storageId) ?? storages[0];
  const prefix =
    storage?.default_namespace_prefix || (storage?.blockstore_type === 'local' ? 'local://' : '');
  // Follows the name until somebody writes another.
  const namespace =
    typedNamespace ?? (prefix === '' || name === '' ? '' : `${prefix.replace(/([^/])$/, '$1/')}${name}`);
  const nameError =
    name === '' || idRule.test(name) ? undefined : 'Three to 63 of a–z, 0–9 and -, not starting with -';
  const namespaceError =
    namespace === '' ||
    storage === undefined ||
    matches(storage.blockstore_namespace_ValidityRegex, namespace)
      ? undefined
      : `Must look like ${storage.blockstore_namespace_example}`;

  const create = useWrite(
    () =>
      client.post('/repositories', {
        params: { query: bare ? { bare: true } : {} },
        body: {
          name,
          storage_namespace: namespace,
          default_branch: branch.trim(),
          sample_data: withSample && !bare,
          ...(readOnly && { read_only: true }),
          ...(storages.length > 1 && { storage_id: storageId }),
        },
      }),
    ({ id }) => onCreated(id),
  );
  const taken =
    create.error instanceof ApiError && create.error.isConflict ? create.error.message : undefined;
  return (
    <FormDialog
      opened
      onClose={onClose}
      title="Create repository"
      action="Create repository"
      busy={create.isPending}
      error={taken === undefined ? create.error : undefined}
      disabled={
        !idRule.test(name) || namespace === '' || namespaceError !== undefined || branch.trim() === ''
      }
      onSubmit={() => create.mutate(undefined)}
    >
      {storage?.blockstore_type === 'mem' && (
        <Notice kind="warn" title="This server keeps data in memory">
          All of it is lost when the server restarts.
        </Notice>
      )}
      <TextInput
        data-autofocus
        label="Repository name"
        placeholder="my-data"
        value={name}
        error={nameError ?? taken}
        onChange={(event) => setName(event.currentTarget.value)}
        autoComplete="off"
      />
      {storages.length > 1 && (
        <Select
          label="Storage"
          data={storages.map((one) => ({
            value: one.blockstore_id ?? '',
            label: `${one.blockstore_id ?? ''} ${one.blockstore_description ?? ''}`.trim(),
          }))}
          value={storageId}
          onChange={(value) => setStorageId(value ?? '')}
          allowDeselect={false}
        />
      )}
      <TextInput
        label="Storage namespace"
        description="Where the objects of this repository are kept"
        placeholder={storage?.blockstore_namespace_example}
        value={namespace}
        error={namespaceError}
        onChange={(event) => setTypedNamespace(event.currentTarget.value)}
        autoComplete="off"
      />
      <TextInput
        label="Default branch"
        value={branch}
        error={branch.trim() === '' ? 'A branch name is required' : undefined}
        onChange={(event) => setBranch(event.currentTarget.value)}
        autoComplete="off"
      />
      {!bare && (
        <Checkbox
          label="Add sample data"
          description="Also protects the default branch, so that you try changes on a branch of your own"
          checked={withSample}
          onChange={(event) => setWithSample(event.currentTarget.checked)}
        />
      )}
      <Checkbox
        label="Read-only"
        checked={readOnly}
        onChange={(event) => setReadOnly(event.currentTarget.checked)}
      />
      <Checkbox
        label="Bare, to restore dumped refs into"
        checked={bare}
        onChange={(event) => setBare(event.currentTarget.checked)}
      />
      {idRule.test(name) && namespace !== '' && <Snippet code={createRepositorySnippet(name, namespace)} />}
    </FormDialog>
  );
}
