import { TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { FormDialog } from '../../kit/dialog.tsx';
import type { DeletedRef } from '../../lib/api.ts';
import { shortId } from '../../lib/format.ts';
import { useWrite } from '../../lib/queries.ts';
import { useRepository } from '../shell/repository-context.tsx';
import { undelete } from './undelete.ts';

export interface RestoreRequest extends Pick<DeletedRef, 'type' | 'id' | 'commit_id'> {
  /** The deletion to take back; else the last. */
  readonly moveId?: string;
}

/** Brings a deleted branch or tag back, under another name when its own is taken. */
export function RestoreDialog({ asked, onClose }: { asked: RestoreRequest; onClose: () => void }): ReactNode {
  const repository = useRepository();
  const { type, id, commit_id: commitId, moveId } = asked;
  const [name, setName] = useState(id);
  const restore = useWrite(
    () => undelete(repository.id, asked, { as: name, ...(moveId !== undefined && { moveId }) }),
    () => {
      notifications.show({ message: `${type === 'branch' ? 'Branch' : 'Tag'} ${name} is back` });
      onClose();
    },
  );
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={`Restore ${type}`}
      action="Restore"
      busy={restore.isPending}
      error={restore.error}
      disabled={name === ''}
      onSubmit={() => restore.mutate(undefined)}
    >
      <div>
        The {type} <strong className="wrap">{id}</strong> comes back at commit{' '}
        <span className="mono">{shortId(commitId)}</span>.
        {type === 'branch' && ' Changes that were not committed do not come back.'}
      </div>
      <TextInput
        data-autofocus
        label="Name"
        description="Choose another if this one is taken by now."
        value={name}
        onChange={(event) => setName(event.currentTarget.value.trim())}
        autoComplete="off"
      />
    </FormDialog>
  );
}
