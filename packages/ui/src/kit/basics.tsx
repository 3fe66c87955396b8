import { ActionIcon, Button, CopyButton as MantineCopy } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import { Check, Copy } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import { useEffect } from 'react';
import type { ReactNode } from 'react';
import { explain } from '../lib/explain.ts';
import { formatRelative, formatTime } from '../lib/format.ts';
import { usePreference } from '../lib/use-preference.ts';
import { Hint } from './hint.tsx';
import { Notice } from './notice.tsx';
import { Why } from './why.tsx';

export { Notice } from './notice.tsx';

export function Tag({ kind = '', children }: { kind?: string; children: ReactNode }): ReactNode {
  return <span className={`tag ${kind}`}>{children}</span>;
}

/** A branch by its name, cut off where there is no room. */
export function BranchTag({ name }: { name: string }): ReactNode {
  return (
    <span className="tag branch" title={name}>
      <span className="ellipsis">{name}</span>
    </span>
  );
}

const changeWords: Readonly<Record<string, readonly [sign: string, word: string]>> = {
  added: ['+', 'Added'],
  changed: ['~', 'Changed'],
  removed: ['−', 'Removed'],
  conflict: ['!', 'Conflict'],
  prefix_changed: ['~', 'Changed'],
};

/** A kind of change by sign, word and colour. Where space is short only screen readers get the word. */
export function ChangeTag({ type }: { type: string }): ReactNode {
  const [sign, word] = changeWords[type] ?? ['', type];
  return (
    <Tag kind={type}>
      {sign} <span className="word">{word}</span>
    </Tag>
  );
}

/** Formats exact times as the preference says. */
function useExactTime(): (seconds: number) => string {
  const [utc] = usePreference<boolean>('utc', false);
  return (seconds) => formatTime(seconds, utc);
}

/** Relative time with the exact one on hover. */
export function Time({ seconds }: { seconds: number }): ReactNode {
  const exact = useExactTime();
  return (
    <time dateTime={new Date(seconds * 1000).toISOString()} title={exact(seconds)}>
      {formatRelative(seconds)}
    </time>
  );
}

/** Date and time to the second. */
export function ExactTime({ seconds }: { seconds: number }): ReactNode {
  const exact = useExactTime();
  return <time dateTime={new Date(seconds * 1000).toISOString()}>{exact(seconds)}</time>;
}

export function CopyButton({
  text,
  label,
  icon: Icon = Copy,
}: {
  text: string;
  label: string;
  /** Tells two buttons beside each other apart. */
  icon?: LucideIcon;
}): ReactNode {
  return (
    <MantineCopy value={text} timeout={1000}>
      {({ copied, copy }) => (
        <Hint label={copied ? 'Copied' : label}>
          <ActionIcon
            variant="subtle"
            color="gray"
            size={26}
            onClick={copy}
            aria-label={copied ? 'Copied' : label}
          >
            {copied ? <Check size={15} /> : <Icon size={15} />}
          </ActionIcon>
        </Hint>
      )}
    </MantineCopy>
  );
}

/** What failed, why, and what to do about it. */
export function ErrorNotice({ error, onRetry }: { error: unknown; onRetry?: () => void }): ReactNode {
  const { title, text, advice, details, run, required } = explain(error);
  const { repo } = useParams({ strict: false });
  return (
    <Notice kind="error" title={title}>
      <div>{text}</div>
      {advice !== undefined && <div className="muted">{advice}</div>}
      <div className="row after">
        {onRetry !== undefined && (
          <button type="button" className="tag pressable" onClick={onRetry}>
            Try again
          </button>
        )}
        <CopyButton text={details} label="Copy error details" />
        {run !== undefined && repo !== undefined && (
          <Link to="/repositories/$repo/actions/$runId" params={{ repo, runId: run }}>
            Show the run
          </Link>
        )}
        {required !== undefined && <Why required={required} />}
      </div>
    </Notice>
  );
}

/** Names the document: "page · ref · repository · svc". */
export function usePageTitle(...parts: (string | undefined)[]): void {
  const title = [...parts.filter((part) => part !== undefined && part !== ''), 'svc'].join(' · ');
  useEffect(() => {
    document.title = title;
  }, [title]);
}

export function Snippet({ code, label = 'Copy command' }: { code: string; label?: string }): ReactNode {
  return (
    <div className="snippet">
      {/* A scrollable region must be reachable by keyboard. */}
      <pre tabIndex={0} aria-label="Command">
        {code}
      </pre>
      <span className="copy">
        <CopyButton text={code} label={label} />
      </span>
    </div>
  );
}

/** Explains what belongs here, why it is empty, and how to begin: with a button or on the command line. */
export function EmptyState({
  icon,
  title,
  children,
  actions,
  snippet,
}: {
  icon?: ReactNode;
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
  snippet?: string;
}): ReactNode {
  return (
    <div className="empty">
      {icon}
      <h2>{title}</h2>
      {children !== undefined && <p>{children}</p>}
      {actions !== undefined && <div className="actions">{actions}</div>}
      {snippet !== undefined && (
        <>
          <p className="small">Or on the command line</p>
          <Snippet code={snippet} />
        </>
      )}
    </div>
  );
}

/** Clears a filter that nothing matches. */
export function ClearFilter({ onClear }: { onClear: () => void }): ReactNode {
  return (
    <Button variant="default" onClick={onClear}>
      Clear filter
    </Button>
  );
}

/** Placeholder rows of the final height, so that nothing jumps when the data lands. */
export function Skeletons({ rows = 6, height = 36 }: { rows?: number; height?: number }): ReactNode {
  return (
    <div aria-busy="true" role="status">
      <span className="visually-hidden">Loading</span>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className="skeleton" style={{ height }}>
          <div style={{ width: `${60 - ((index * 17) % 35)}%` }} />
        </div>
      ))}
    </div>
  );
}
