import { Button, Checkbox, SegmentedControl, TagsInput } from '@mantine/core';
import { Plus, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Statement } from '../../lib/api.ts';
import { actionChoices, newStatement, resourcesOf, withResources } from '../../lib/policy-form.ts';
import { useResourceChoices } from './resource-choices.ts';

/** The statements of a policy as a form. Conditions are kept as they are. */
export function StatementFields({
  statements,
  onChange,
}: {
  statements: readonly Statement[];
  onChange: (statements: Statement[]) => void;
}): ReactNode {
  const resources = useResourceChoices();
  const change = (index: number, statement: Statement): void => onChange(statements.with(index, statement));
  return (
    <div className="stack">
      {statements.map((statement, index) => (
        <fieldset key={index} className="box field-box stack tight">
          <legend className="small muted">Statement {index + 1}</legend>
          <div className="row">
            <SegmentedControl
              size="xs"
              aria-label={`Effect of statement ${index + 1}`}
              value={statement.effect}
              onChange={(effect) => change(index, { ...statement, effect })}
              data={['allow', 'deny']}
            />
            {statements.length > 1 && (
              <Button
                className="right"
                variant="default"
                size="compact-sm"
                leftSection={<Trash2 size={14} />}
                aria-label={`Remove statement ${index + 1}`}
                onClick={() => onChange(statements.toSpliced(index, 1))}
              >
                Remove
              </Button>
            )}
          </div>
          <TagsInput
            label="Actions"
            aria-label={`Actions of statement ${index + 1}`}
            data={[...actionChoices]}
            limit={60}
            value={statement.action}
            onChange={(action) => change(index, { ...statement, action })}
            acceptValueOnBlur
          />
          <TagsInput
            label="Resources"
            aria-label={`Resources of statement ${index + 1}`}
            data={resources}
            limit={60}
            value={resourcesOf(statement)}
            onChange={(list) => change(index, withResources(statement, list))}
            splitChars={[]}
            acceptValueOnBlur
          />
          <Checkbox
            size="xs"
            label="About requests without credentials"
            checked={statement.principal !== undefined}
            onChange={(event) => {
              const { principal: _principal, ...rest } = statement;
              change(index, event.currentTarget.checked ? { ...rest, principal: ['anonymous'] } : rest);
            }}
          />
          {statement.condition !== undefined && (
            <div className="small muted">
              Condition: <code className="wrap">{JSON.stringify(statement.condition)}</code>
            </div>
          )}
        </fieldset>
      ))}
      <div className="row">
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<Plus size={14} />}
          onClick={() => onChange([...statements, newStatement])}
        >
          Add statement
        </Button>
      </div>
    </div>
  );
}
