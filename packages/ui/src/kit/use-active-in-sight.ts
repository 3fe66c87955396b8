import { useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { RefObject } from 'react';

/** Where the links of a row do not fit, scrolls to the one of the page that is shown. */
export function useActiveInSight(): RefObject<HTMLElement | null> {
  const row = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  useEffect(() => {
    const active = row.current?.querySelector<HTMLElement>('[aria-current]');
    if (row.current === null || active === null || active === undefined) return;
    row.current.scrollLeft = active.offsetLeft - (row.current.clientWidth - active.clientWidth) / 2;
    // Another page has another active link.
    // oxlint-disable-next-line react/exhaustive-effect-dependencies
  }, [pathname]);
  return row;
}
