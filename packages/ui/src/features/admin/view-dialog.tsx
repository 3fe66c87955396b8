import { TextInput } from '@mantine/core';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { FormDialog } from '../../kit/dialog.tsx';
import { client } from '../../lib/api.ts';
import type { Credentials } from '../../lib/api.ts';
import { useWrite } from '../../lib/queries.ts';
import { BindingFields, noTarget, useTarget } from '../buckets/binding-fields.tsx';
import type { Target } from '../buckets/binding-fields.tsx';

/** Binds an access key to one bucket, or changes what that bucket shows. */
export function ViewDialog({
  userId,
  credentials,
  onClose,
}: {
  userId: string;
  credentials: Credentials;
  onClose: () => void;
}): ReactNode {
  const { access_key_id: accessKeyId, view } = credentials;
  const [bucket, setBucket] = useState(view?.name ?? '');
  const [target, setTarget] = useState<Target>(
    view === undefined
      ? noTarget
      : {
          repository: view.repository,
          ref: view.ref,
          prefix: view.prefix,
          pin: view.pinned,
          readOnly: view.read_only,
        },
  );
  const { binding } = useTarget(target);
  const save = useWrite(
    () =>
      client.put('/auth/users/{userId}/credentials/{accessKeyId}/view', {
        params: { path: { userId, accessKeyId } },
        body: { ...binding, ...(bucket !== '' && { bucket }) },
      }),
    onClose,
  );
  return (
    <FormDialog
      opened
      onClose={onClose}
      title="Bind to a bucket"
      action="Bind"
      busy={save.isPending}
      error={save.error}
      disabled={binding.repository === '' || binding.ref === ''}
      onSubmit={() => save.mutate(undefined)}
    >
      <div>
        With <code>{accessKeyId}</code> S3 tools then see this one bucket and nothing else. It no longer logs
        in here or to the API.
      </div>
      <TextInput
        label="Bucket name"
        description="Empty: the name of the repository."
        value={bucket}
        onChange={(event) => setBucket(event.currentTarget.value.trim())}
        autoComplete="off"
      />
      <BindingFields target={target} onChange={setTarget} />
    </FormDialog>
  );
}
