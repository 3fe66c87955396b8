import { useQueries } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { refQuery } from '../../lib/queries.ts';
import { parseTimeRef, refAt } from '../../lib/time-refs.ts';

/**
 * Replaces times that move (`main@2h`, `main@{1}`) in the address by the instants they mean, so that every page, and
 * whoever gets the link, reads one and the same commit. True until it is done; a time the server refuses stays.
 */
export function usePinnedTimes(
  repository: string,
  search: { readonly ref?: string | undefined; readonly compare?: string | undefined },
): boolean {
  const navigate = useNavigate();
  const names = ['ref', 'compare'] as const;
  const moving = names.filter((name) => parseTimeRef(search[name] ?? '')?.moving === true);
  const answers = useQueries({
    queries: moving.map((name) => ({ ...refQuery(repository, search[name] ?? ''), enabled: true })),
  });
  const pinned: Record<string, string> = {};
  for (const [index, name] of moving.entries()) {
    const ref = search[name] ?? '';
    const { base = '', steps } = parseTimeRef(ref) ?? {};
    const instant = answers[index]?.data?.instant;
    if (instant !== undefined) pinned[name] = refAt(base, instant, steps);
  }
  const isPending = answers.some((answer) => answer.isPending);
  const key = isPending ? '' : JSON.stringify(pinned);
  useEffect(() => {
    if (key === '' || key === '{}') return;
    const change = JSON.parse(key) as Record<string, string>;
    void navigate({ to: '.', search: (was: object) => ({ ...was, ...change }), replace: true } as never);
  }, [key, navigate]);
  return isPending || Object.keys(pinned).length > 0;
}
