import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { Search } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';

const pause = 300;

/** A filter whose value lives in the address: sent when typing pauses, and following Back and "Clear filter". */
export function FilterField({
  label,
  placeholder,
  value,
  onFilter,
  size = 'sm',
  width,
}: {
  label: string;
  placeholder: string;
  value: string;
  onFilter: (value: string) => void;
  size?: 'xs' | 'sm';
  width?: number;
}): ReactNode {
  const [text, setText] = useState(value);
  const [sent, setSent] = useState(value);
  const [seen, setSeen] = useState(value);
  const send = useDebouncedCallback((typed: string) => {
    setSent(typed);
    onFilter(typed);
  }, pause);
  if (value !== seen) {
    setSeen(value);
    // Keep what was typed meanwhile; take over a value set elsewhere.
    if (value !== sent) {
      setSent(value);
      setText(value);
    }
  }
  return (
    <TextInput
      data-filter
      aria-label={label}
      placeholder={placeholder}
      leftSection={<Search size={size === 'xs' ? 14 : 15} />}
      size={size}
      {...(width !== undefined && { w: width })}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        send(event.currentTarget.value);
      }}
    />
  );
}
