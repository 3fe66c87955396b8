import { useRouterState } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import { identityOf, keepList, keptList } from './kept-lists.ts';
import { firstAmount, PagedList } from './paged-list.ts';
import type { FetchPage, PagedState } from './paged-list.ts';
import { onWritten } from './queries.ts';

/**
 * A paged list that starts over when `key` changes and reloads after writes and when the window is seen again.
 * Back and Forward find it as it was left.
 */
export function usePagedList<Row>(
  key: readonly string[],
  fetchPage: FetchPage<Row>,
  start = '',
): PagedList<Row> {
  const latest = useRef(fetchPage);
  latest.current = fetchPage;
  const visit = useRouterState({ select: ({ location }) => location.state.__TSR_key ?? '' });
  const identity = identityOf(key, start);
  const list = useMemo(
    () =>
      keptList<Row>(visit, identity) ??
      new PagedList<Row>((after, amount, signal) => latest.current(after, amount, signal), start),
    // The identity stands for everything the pages depend on.
    // oxlint-disable-next-line react/exhaustive-deps
    [identity],
  );
  useEffect(
    () => () => {
      if (list.state().count > 0) keepList(visit, identity, list);
    },
    [visit, identity, list],
  );
  useEffect(() => {
    list.appear();
    let seen = Date.now();
    const onFocus = (): void => {
      if (
        Date.now() - seen > 15_000 &&
        document.visibilityState === 'visible' &&
        list.state().count <= firstAmount
      ) {
        list.reload();
        seen = Date.now();
      }
    };
    globalThis.addEventListener('focus', onFocus);
    const off = onWritten(() => list.reload());
    return () => {
      globalThis.removeEventListener('focus', onFocus);
      off();
      list.stop();
    };
  }, [list]);
  return list;
}

export function usePagedState<Row>(list: PagedList<Row>): PagedState {
  return useSyncExternalStore(list.subscribe, list.state);
}
