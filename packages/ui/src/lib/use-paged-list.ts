import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import { firstAmount, PagedList } from './paged-list.ts';
import type { FetchPage, PagedState } from './paged-list.ts';
import { onWritten } from './queries.ts';

/** A paged list that starts over when `key` changes and reloads after writes and when the window is seen again. */
export function usePagedList<Row>(
  key: readonly string[],
  fetchPage: FetchPage<Row>,
  start = '',
): PagedList<Row> {
  const latest = useRef(fetchPage);
  latest.current = fetchPage;
  const identity = JSON.stringify([...key, start]);
  const list = useMemo(
    () => new PagedList<Row>((after, amount, signal) => latest.current(after, amount, signal), start),
    // The identity stands for everything the pages depend on.
    // oxlint-disable-next-line react/exhaustive-deps
    [identity],
  );
  useEffect(() => {
    list.more();
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
