import type { ReactNode } from 'react';

/** Which part of a list is shown. */
export function ListTabs<Name extends string>({
  label,
  tabs,
  value,
  onChange,
}: {
  label: string;
  tabs: readonly (readonly [name: Name, text: string])[];
  value: Name;
  onChange: (name: Name) => void;
}): ReactNode {
  return (
    <div className="box-head with-tabs">
      <div className="tabs flush" role="tablist" aria-label={label}>
        {tabs.map(([name, text]) => (
          <button
            key={name}
            type="button"
            role="tab"
            aria-selected={value === name}
            onClick={() => onChange(name)}
          >
            {text}
          </button>
        ))}
      </div>
    </div>
  );
}

export const livingOrDeleted = [
  ['living', 'Active'],
  ['deleted', 'Deleted'],
] as const;
