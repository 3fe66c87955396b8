import { useMemo } from 'react';
import type { Diff } from './api.ts';
import { usePreference } from './use-preference.ts';

/** By difference, and in it by path: what was looked at. */
type Seen = Readonly<Record<string, Readonly<Record<string, string>>>>;

const name = 'viewed';
const keptDifferences = 20;
const keptPaths = 1000;

/** The version of a change: when the object changes again it counts as not looked at. */
function versionOf({ type, size_bytes = 0, right }: Diff): string {
  return `${type} ${right?.checksum ?? size_bytes}`;
}

export interface Viewed {
  readonly count: number;
  readonly has: (entry: Diff) => boolean;
  readonly mark: (entry: Diff, isViewed: boolean) => void;
}

/** The marks of what was looked at in a difference, kept in this browser. */
export function useViewed(key: readonly string[]): Viewed {
  const [text, setText] = usePreference<string>(name, '{}');
  const difference = key.join(' ');
  return useMemo(() => {
    const seen = JSON.parse(text) as Seen;
    const paths = seen[difference] ?? {};
    return {
      count: Object.keys(paths).length,
      has: (entry) => paths[entry.path] === versionOf(entry),
      mark(entry, isViewed) {
        const { [entry.path]: _was, ...others } = paths;
        const marked = isViewed ? { ...others, [entry.path]: versionOf(entry) } : others;
        const { [difference]: _old, ...kept } = seen;
        const all = [
          ...Object.entries(kept).slice(1 - keptDifferences),
          [difference, Object.fromEntries(Object.entries(marked).slice(-keptPaths))],
        ];
        setText(JSON.stringify(Object.fromEntries(all)));
      },
    };
    // The setter is another on each call and does the same.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [text, difference]);
}
