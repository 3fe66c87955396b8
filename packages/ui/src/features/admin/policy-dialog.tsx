import { TextInput } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import type { ReactNode } from 'react';
import { Notice, Skeletons } from '../../kit/basics.tsx';
import { FormDialog } from '../../kit/dialog.tsx';
import { client } from '../../lib/api.ts';
import type { Policy, Statement } from '../../lib/api.ts';
import { examplePolicy, parsePolicy } from '../../lib/policy-text.ts';
import { policyCompletion } from '../../lib/policy-completion.ts';
import { actionChoices, policyText } from '../../lib/policy-form.ts';
import { useWrite } from '../../lib/queries.ts';
import { PermissionTest } from './permission-test.tsx';
import { useResourceChoices } from './resource-choices.ts';
import { StatementFields } from './statement-fields.tsx';

const CodeEditor = lazy(async () => ({ default: (await import('../../kit/code-view.tsx')).CodeEditor }));

/** A policy as a form and as JSON beside it, checked as it is typed; it can be tried before it is saved. */
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
  const [text, setText] = useState(policy === undefined ? examplePolicy : policyText(policy.statement));
  // What the form was given last: it stays as it is while something in it is still missing.
  const [filled, setFilled] = useState<Statement[]>();
  const choices = { action: actionChoices, resource: useResourceChoices() };
  const parsed = parsePolicy(text);
  const shown = filled ?? ('statement' in parsed ? parsed.statement : undefined);
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
      size={1080}
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
      <div className="halves">
        <div className="stack">
          {shown !== undefined && (
            <StatementFields
              statements={shown}
              onChange={(statements) => {
                setFilled(statements);
                setText(policyText(statements));
              }}
            />
          )}
          {'problem' in parsed && (
            <Notice
              kind="warn"
              {...(shown === undefined && { title: 'The form is back when the JSON is right' })}
            >
              {parsed.problem}
            </Notice>
          )}
        </div>
        <Suspense fallback={<Skeletons />}>
          <CodeEditor
            value={text}
            onChange={(typed) => {
              if (typed === text) return;
              setText(typed);
              setFilled(undefined);
            }}
            extension="json"
            label="Policy as JSON"
            complete={(typed, position) => policyCompletion(typed, position, choices)}
            minHeight={240}
          />
        </Suspense>
      </div>
      {'statement' in parsed && (
        <PermissionTest draft={{ id: id.trim() === '' ? 'draft' : id.trim(), statement: parsed.statement }} />
      )}
    </FormDialog>
  );
}
