import { Select, TextInput } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ClearFilter, EmptyState, ExactTime, Tag, usePageTitle } from '../../kit/basics.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { client } from '../../lib/api.ts';
import type { AuditEntry } from '../../lib/api.ts';
import { toPage } from '../../lib/paged-list.ts';
import type { ListedPage } from '../../lib/paged-list.ts';
import { usePagedList } from '../../lib/use-paged-list.ts';

interface Filter {
  readonly user?: string | undefined;
  readonly action?: string | undefined;
  readonly resource?: string | undefined;
  readonly result?: string | undefined;
  readonly source?: string | undefined;
  /** The last hours, as a number. */
  readonly hours?: string | undefined;
}

const resultTags: Readonly<Record<AuditEntry['result'], string>> = {
  success: 'added',
  denied: 'removed',
  failure: 'changed',
};

const texts = [
  ['user', 'User', ''],
  ['action', 'Action', 'createBranch or fs:*'],
  ['resource', 'Resource', 'arn:svc:fs:::repository/lake/*'],
  ['source', 'Source address', ''],
] as const;

/** Who did what when. */
export function AuditPage(): ReactNode {
  usePageTitle('Audit');
  const filter: Filter = useSearch({ from: '/app/auth/audit' });
  const navigate = useNavigate({ from: '/auth/audit' });
  const change = (changes: Filter): void =>
    void navigate({ search: { ...filter, ...changes }, replace: true });
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const list = usePagedList<AuditEntry>(['audit', JSON.stringify(filter)], (after, amount, signal) =>
    nextEntries(filter, after, amount, signal),
  );
  return (
    <div className="stack">
      <div className="page-head flush">
        <h1>Audit</h1>
      </div>
      <div className="muted">Changes, logins and refusals on all servers, newest first.</div>
      <search className="fields-beside" aria-label="Filter">
        {texts.map(([name, label, placeholder]) => (
          <FilterText
            key={name}
            label={label}
            placeholder={placeholder}
            value={filter[name] ?? ''}
            onChange={(value) => change({ [name]: value === '' ? undefined : value })}
          />
        ))}
        <Select
          label="Result"
          placeholder="Any"
          clearable
          data={['success', 'denied', 'failure']}
          value={filter.result ?? null}
          onChange={(result) => change({ result: result ?? undefined })}
        />
        <Select
          label="Time"
          placeholder="Any"
          clearable
          data={[
            { value: '1', label: 'Last hour' },
            { value: '24', label: 'Last day' },
            { value: '168', label: 'Last week' },
            { value: '720', label: 'Last month' },
          ]}
          value={filter.hours ?? null}
          onChange={(hours) => change({ hours: hours ?? undefined })}
        />
      </search>
      <div className="box">
        <VirtualList
          label="Audit"
          noun="entries"
          list={list}
          rowHeight={56}
          columns={[
            {
              name: 'What',
              width: 'minmax(0, 1fr)',
              cell: ({ user, action, resource, time }) => (
                <div>
                  <div className="ellipsis">
                    <span className="strong">{user ?? 'somebody unknown'}</span> {action}
                  </div>
                  <div className="small muted ellipsis" title={resource}>
                    <ExactTime seconds={Date.parse(time) / 1000} />
                    {resource !== undefined && ` · ${resource}`}
                  </div>
                </div>
              ),
            },
            {
              name: 'Source',
              width: 'minmax(60px, 140px)',
              wide: true,
              className: 'small muted ellipsis',
              cell: ({ source_ip, service }) => `${source_ip} · ${service}`,
            },
            {
              name: 'Result',
              width: '96px',
              className: 'small',
              cell: ({ result, status }) => (
                <span title={`Status ${status}`}>
                  <Tag kind={resultTags[result]}>{result}</Tag>
                </span>
              ),
            },
          ]}
          empty={
            isFiltered ? (
              <EmptyState
                title="Nothing matches"
                actions={<ClearFilter onClear={() => void navigate({ search: {}, replace: true })} />}
              />
            ) : (
              <EmptyState
                icon={<ScrollText size={36} aria-hidden />}
                title="Nothing has happened yet"
                snippet="svcctl audit --result denied"
              >
                Every change, login and refusal appears here within seconds.
              </EmptyState>
            )
          }
        />
      </div>
    </div>
  );
}

/** A search that meets little answers with empty pages: goes on until there is something to show. */
async function nextEntries(
  filter: Filter,
  start: string,
  amount: number,
  signal: AbortSignal,
): Promise<ListedPage<AuditEntry>> {
  const { user, action, resource, source, result, hours } = filter;
  const since = hours === undefined ? undefined : new Date(Date.now() - Number(hours) * 3_600_000);
  const query = {
    ...(user !== undefined && { user }),
    ...(action !== undefined && { action }),
    ...(resource !== undefined && { resource }),
    ...(source !== undefined && { source_ip: source }),
    ...(result !== undefined && { result: result as AuditEntry['result'] }),
    ...(since !== undefined && { since: since.toISOString() }),
    amount,
  };
  for (let after = start; ;) {
    const page = toPage(await client.get('/audit', { params: { query: { ...query, after } }, signal }));
    if (page.rows.length > 0 || page.next === undefined) return page;
    after = page.next;
  }
}

/** Typing ends with Enter or by leaving the field: not every letter is a search. */
function FilterText({
  label,
  placeholder,
  value,
  onChange,
}: {
  label: string;
  placeholder: string;
  value: string;
  onChange: (value: string) => void;
}): ReactNode {
  const [text, setText] = useState(value);
  const [shown, setShown] = useState(value);
  if (shown !== value) {
    setShown(value);
    setText(value);
  }
  const done = (): void => {
    if (text.trim() !== value) onChange(text.trim());
  };
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={done}
      onKeyDown={(event) => {
        if (event.key === 'Enter') done();
      }}
      autoComplete="off"
    />
  );
}
