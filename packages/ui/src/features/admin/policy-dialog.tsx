import { TextInput } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import type { ReactNode } from 'react';
import { Notice, Skeletons } from '../../kit/basics.tsx';
import { FormDialog } from '../../kit/dialog.tsx';
import { client } from '../../lib/api.ts';
import type { Policy } from '../../lib/api.ts';
import { examplePolicy, parsePolicy } from '../../lib/policy-text.ts';
import { useWrite } from '../../lib/queries.ts';

const CodeEditor = lazy(async () => ({ default: (await import('../../kit/code-view.tsx')).CodeEditor }));

/** A policy as JSON, checked as it is typed. */
export function PolicyDialog({
  policy,
  onClose,
  onSaved,
}: {
  policy?: Policy;
  onClose: () => void;
  onSaved: (id: string) => void;
}): ReactNode {
  const [id, setId] = useState(policy?.id ?? '');
  const [text, setText] = useState(
    policy === undefined ? examplePolicy : `${JSON.stringify({ statement: policy.statement }, null, 2)}\n`,
  );
  const parsed = parsePolicy(text);
  const save = useWrite(
    async (statement: Policy['statement']) =>
      policy === undefined
        ? await client.post('/auth/policies', { body: { id: id.trim(), statement } })
        : await client.put('/auth/policies/{policyId}', {
            params: { path: { policyId: policy.id } },
            body: { id: policy.id, statement },
          }),
    (saved) => onSaved(saved.id),
  );
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={policy === undefined ? 'Create policy' : `Edit ${policy.id}`}
      action={policy === undefined ? 'Create policy' : 'Save policy'}
      size={720}
      busy={save.isPending}
      error={save.error}
      disabled={id.trim() === '' || 'problem' in parsed}
      onSubmit={() => 'statement' in parsed && save.mutate(parsed.statement)}
    >
      {policy === undefined && (
        <TextInput
          data-autofocus
          label="Policy name"
          value={id}
          onChange={(event) => setId(event.currentTarget.value)}
          autoComplete="off"
        />
      )}
      <Suspense fallback={<Skeletons />}>
        <CodeEditor value={text} onChange={setText} extension="json" label="Policy as JSON" minHeight={240} />
      </Suspense>
      {'problem' in parsed && <Notice kind="warn">{parsed.problem}</Notice>}
    </FormDialog>
  );
}
