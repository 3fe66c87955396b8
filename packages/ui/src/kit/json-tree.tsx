import { useState } from 'react';
import type { ReactNode } from 'react';
import { formatCount } from '../lib/format.ts';

const shownAtOnce = 100;

type Branch = readonly unknown[] | Readonly<Record<string, unknown>>;

function isBranch(value: unknown): value is Branch {
  return typeof value === 'object' && value !== null;
}

function Leaf({ value }: { value: unknown }): ReactNode {
  const kind = value === null ? 'null' : typeof value;
  return <span className={`json-${kind} wrap`}>{JSON.stringify(value)}</span>;
}

function sizeOf(value: Branch): string {
  if (Array.isArray(value)) return `[${formatCount(value.length)}]`;
  return `{${formatCount(Object.keys(value).length)}}`;
}

/** One value under its name. Its children are rendered only while it is open. */
function Node({ name, value, open }: { name: string; value: unknown; open: boolean }): ReactNode {
  const [isOpen, setOpen] = useState(open);
  const label = <span className="json-name">{name}</span>;
  if (!isBranch(value)) {
    return (
      <div className="json-leaf">
        {label}: <Leaf value={value} />
      </div>
    );
  }
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {label} <span className="muted">{sizeOf(value)}</span>
      </summary>
      {isOpen && <Children value={value} />}
    </details>
  );
}

function Children({ value }: { value: Branch }): ReactNode {
  const [limit, setLimit] = useState(shownAtOnce);
  const entries: readonly (readonly [string, unknown])[] = Object.entries(value);
  return (
    <div className="json-children">
      {entries.slice(0, limit).map(([name, child]) => (
        <Node key={name} name={name} value={child} open={false} />
      ))}
      {entries.length > limit && (
        <button type="button" className="plain underlined" onClick={() => setLimit(limit * 10)}>
          Show more of {formatCount(entries.length)}
        </button>
      )}
    </div>
  );
}

/** JSON to fold and unfold. The text is one value, or with `lines` one value per line; `complete` unless it was cut off. */
export function JsonTree({
  text,
  lines,
  complete,
}: {
  text: string;
  lines: boolean;
  complete: boolean;
}): ReactNode {
  if (!complete && !lines) {
    return <div className="box-body muted">The tree needs the whole text: show more of it below.</div>;
  }
  let value: unknown;
  try {
    value = lines
      ? (complete ? text : text.slice(0, text.lastIndexOf('\n') + 1))
          .split('\n')
          .filter((line) => line.trim() !== '')
          .map((line) => JSON.parse(line) as unknown)
      : JSON.parse(text);
  } catch (error) {
    return (
      <div className="box-body muted">
        This is not valid JSON: {error instanceof Error ? error.message : String(error)}
      </div>
    );
  }
  return (
    <div className="json-tree" role="region" aria-label="JSON tree" tabIndex={0}>
      {isBranch(value) ? <Node name="root" value={value} open /> : <Leaf value={value} />}
    </div>
  );
}
