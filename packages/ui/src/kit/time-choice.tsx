import { Button, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { shortId, summaryOf } from '../lib/format.ts';
import { commitQuery, refQuery } from '../lib/queries.ts';
import { instantOf, localOf, refAt } from '../lib/time-refs.ts';
import { Time } from './basics.tsx';

const hour = 3_600_000;
const steps = [
  ['1 hour ago', hour],
  ['Yesterday', 24 * hour],
  ['A week ago', 168 * hour],
] as const;

/** Chooses a moment of a branch or tag; says which commit that was before anybody goes there. */
export function TimeChoice({
  repository,
  base,
  onChoose,
}: {
  repository: string;
  base: string;
  onChoose: (ref: string) => void;
}): ReactNode {
  const [now] = useState(() => new Date());
  const [text, setText] = useState(localOf(new Date(now.getTime() - hour)));
  const [settled] = useDebouncedValue(text, 250);
  const instant = instantOf(settled);
  const ref = instant === undefined ? '' : refAt(base, instant);
  const { data: found, error } = useQuery(refQuery(repository, ref));
  const zone = -now.getTimezoneOffset();
  const zoneText =
    zone === 0
      ? 'UTC'
      : `UTC${zone < 0 ? '−' : '+'}${Math.floor(Math.abs(zone) / 60)}:${String(Math.abs(zone) % 60).padStart(2, '0')}`;
  return (
    <div className="padded stack">
      <div className="row">
        {steps.map(([label, back]) => (
          <Button
            key={label}
            variant="default"
            size="compact-sm"
            onClick={() => setText(localOf(new Date(Date.now() - back)))}
          >
            {label}
          </Button>
        ))}
        <Button variant="default" size="compact-sm" onClick={() => onChoose(`${base}@{1}`)}>
          Before the last move
        </Button>
      </div>
      <TextInput
        type="datetime-local"
        step={1}
        label={`${base} as of (${zoneText})`}
        value={text}
        max={localOf(now)}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && found !== undefined && found !== null) onChoose(ref);
        }}
      />
      <div className="small" role="status">
        {instant === undefined && <span className="muted">Give a date and a time.</span>}
        {error !== null && <span className="failure">{error.message}</span>}
        {found !== undefined && found !== null && (
          <FoundCommit repository={repository} commitId={found.commitId} />
        )}
      </div>
      <Button disabled={found === undefined || found === null} onClick={() => onChoose(ref)}>
        Browse as of then
      </Button>
    </div>
  );
}

function FoundCommit({ repository, commitId }: { repository: string; commitId: string }): ReactNode {
  const { data } = useQuery(commitQuery(repository, commitId));
  return (
    <>
      <span className="mono">{shortId(commitId)}</span>{' '}
      {data !== undefined && (
        <span className="muted">
          {summaryOf(data.message)} · {data.committer !== '' && `${data.committer}, `}
          <Time seconds={data.creation_date} />
        </span>
      )}
    </>
  );
}
