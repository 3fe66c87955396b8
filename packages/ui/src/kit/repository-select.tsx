import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { client } from '../lib/api.ts';

/** Finds a repository by part of its name. */
export function RepositorySelect({
  label,
  value,
  onChange,
  placeholder = 'Find a repository',
}: {
  label: string;
  value: string;
  onChange: (repository: string) => void;
  placeholder?: string;
}): ReactNode {
  const [text, setText] = useState('');
  const [search] = useDebouncedValue(text === value ? '' : text, 200);
  const { data } = useQuery({
    queryKey: ['repository-select', search],
    queryFn: ({ signal }) =>
      client.get('/repositories', { params: { query: { search, amount: 100 } }, signal }),
    placeholderData: (previous) => previous,
  });
  const names = new Set((data?.results ?? []).map(({ id }) => id));
  if (value !== '') names.add(value);
  return (
    <Select
      label={label}
      placeholder={placeholder}
      searchable
      clearable
      data={[...names]}
      value={value === '' ? null : value}
      onChange={(chosen) => onChange(chosen ?? '')}
      onSearchChange={setText}
      nothingFoundMessage="No such repository"
    />
  );
}
