import { TextInput } from '@mantine/core';
import { ArrowRight } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { FormDialog } from '../../kit/dialog.tsx';
import { client } from '../../lib/api.ts';
import type { Alias } from '../../lib/api.ts';
import { useWrite } from '../../lib/queries.ts';
import { BindingFields, noTarget, useTarget } from './binding-fields.tsx';
import type { Target } from './binding-fields.tsx';
import { PlaceText } from './place-text.tsx';

/** Makes a bucket, or swaps what one shows; says from what to what before it is done. */
export function BucketDialog({
  alias,
  repository = '',
  onClose,
  onDone,
}: {
  /** The bucket to swap; else a new one. */
  alias?: Alias | undefined;
  repository?: string;
  onClose: () => void;
  onDone: (alias: Alias) => void;
}): ReactNode {
  const [name, setName] = useState('');
  const [description, setDescription] = useState(alias?.description ?? '');
  const [target, setTarget] = useState<Target>(
    alias === undefined
      ? { ...noTarget, repository }
      : {
          repository: alias.repository,
          ref: alias.ref,
          prefix: alias.prefix,
          pin: alias.pinned,
          readOnly: alias.read_only,
        },
  );
  const { binding, commitId } = useTarget(target);
  const save = useWrite(() => {
    const body = { ...binding, description };
    if (alias === undefined) return client.post('/aliases', { body: { name, ...body } });
    // Only if nobody has moved it since it was shown here.
    return client.put('/aliases/{alias}', {
      params: { path: { alias: alias.name }, header: { 'If-Match': `"${alias.generation}"` } },
      body,
    });
  }, onDone);
  const isReady = binding.repository !== '' && binding.ref !== '' && (alias !== undefined || name !== '');
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={alias === undefined ? 'Create bucket' : `Swap ${alias.name}`}
      action={alias === undefined ? 'Create bucket' : 'Swap'}
      busy={save.isPending}
      error={save.error}
      disabled={!isReady}
      onSubmit={() => save.mutate(undefined)}
    >
      {alias === undefined && (
        <TextInput
          data-autofocus
          label="Bucket name"
          description="3 to 63 lower-case letters, digits and hyphens; no repository may have it."
          placeholder="prod"
          value={name}
          onChange={(event) => setName(event.currentTarget.value.trim())}
          autoComplete="off"
        />
      )}
      <BindingFields target={target} onChange={setTarget} />
      <TextInput
        label="Description"
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
      {isReady && (
        <div className="row" role="status">
          {alias !== undefined && (
            <>
              <PlaceText place={alias} />
              <ArrowRight size={15} aria-label="to" className="muted" />
            </>
          )}
          <PlaceText place={{ ...binding, commit_id: commitId }} />
        </div>
      )}
    </FormDialog>
  );
}
