import { ActionIcon, Button, TextInput } from '@mantine/core';
import { Plus, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { checkMetadata } from '../lib/metadata-rules.ts';
import type { MetadataPair } from '../lib/metadata-rules.ts';

/** Key and value pairs of a commit. Errors show once `touched`. */
export function MetadataFields({
  pairs,
  onChange,
  touched,
  disabled = false,
}: {
  pairs: readonly MetadataPair[];
  onChange: (pairs: MetadataPair[]) => void;
  touched: boolean;
  disabled?: boolean;
}): ReactNode {
  const errors = checkMetadata(pairs);
  const set = (index: number, change: Partial<MetadataPair>): void =>
    onChange(pairs.map((pair, i) => (i === index ? { ...pair, ...change } : pair)));
  return (
    <fieldset className="stack tight bare" disabled={disabled}>
      <legend className="legend">Metadata</legend>
      {pairs.map((pair, index) => (
        <div key={index} className="row nowrap top">
          <TextInput
            className="grow"
            aria-label={`Metadata key ${index + 1}`}
            placeholder="Key"
            value={pair.key}
            error={touched ? errors[index] : undefined}
            onChange={(event) => set(index, { key: event.currentTarget.value })}
          />
          <TextInput
            className="grow"
            aria-label={`Metadata value ${index + 1}`}
            placeholder="Value"
            value={pair.value}
            onChange={(event) => set(index, { value: event.currentTarget.value })}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            size={34}
            aria-label={`Remove metadata ${index + 1}`}
            onClick={() => onChange(pairs.filter((_, i) => i !== index))}
          >
            <X size={15} />
          </ActionIcon>
        </div>
      ))}
      <div>
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<Plus size={14} />}
          onClick={() => onChange([...pairs, { key: '', value: '' }])}
        >
          Add metadata
        </Button>
      </div>
    </fieldset>
  );
}
