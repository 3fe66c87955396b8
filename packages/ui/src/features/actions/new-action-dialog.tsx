import { SegmentedControl, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { FormDialog } from '../../kit/dialog.tsx';
import { client } from '../../lib/api.ts';
import { useWrite } from '../../lib/queries.ts';
import { useRepository } from '../shell/repository-context.tsx';
import { templates, type TemplateKind } from './templates.ts';

const kinds = [
  { value: 'lua', label: 'Lua' },
  { value: 'webhook', label: 'Webhook' },
  { value: 'airflow', label: 'Airflow' },
] as const;

/** Begins an action file from a template; it is uploaded to a branch, where it applies at once. */
export function NewActionDialog({
  onClose,
  onDone,
}: {
  onClose: () => void;
  onDone: (branch: string, path: string) => void;
}): ReactNode {
  const repository = useRepository();
  const [kind, setKind] = useState<TemplateKind>('lua');
  const [text, setText] = useState<string>(templates.lua);
  const [name, setName] = useState('my-action');
  const [branch, setBranch] = useState(repository.default_branch);
  const path = `_svc_actions/${name}.yaml`;
  const save = useWrite(
    () =>
      client.objects.upload({
        repository: repository.id,
        branch,
        path,
        body: new Blob([text]),
        contentType: 'application/yaml',
      }),
    () => onDone(branch, path),
  );
  const choose = (value: string): void => {
    const chosen = kinds.find((known) => known.value === value)?.value ?? 'lua';
    // What somebody wrote is not thrown away.
    if (text === templates[kind]) setText(templates[chosen]);
    setKind(chosen);
  };
  return (
    <FormDialog
      opened
      onClose={onClose}
      title="New action"
      action="Upload"
      size={720}
      busy={save.isPending}
      error={save.error}
      disabled={name === '' || branch === ''}
      onSubmit={() => save.mutate(undefined)}
    >
      <SegmentedControl aria-label="Kind of hook" data={[...kinds]} value={kind} onChange={choose} />
      <div className="row">
        <TextInput
          data-autofocus
          className="grow"
          label="File name"
          description={path}
          value={name}
          onChange={(event) => setName(event.currentTarget.value.replaceAll('/', '').trim())}
        />
        <TextInput
          label="Branch"
          description="Applies to the next operation there"
          value={branch}
          onChange={(event) => setBranch(event.currentTarget.value.trim())}
        />
      </div>
      <Textarea
        label="Action"
        classNames={{ input: 'mono' }}
        autosize
        minRows={12}
        maxRows={22}
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
