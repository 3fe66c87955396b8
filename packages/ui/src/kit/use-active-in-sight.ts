import { useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { RefObject } from 'react';

/** Scrolls a row of links so that the active one is visible, also after the screen was rotated. */
export function useActiveInSight(): RefObject<HTMLElement | null> {
  const row = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  useEffect(() => {
    const links = row.current;
    const active = links?.querySelector<HTMLElement>('[aria-current]');
    if (links === null || active === null || active === undefined) return undefined;
    const resized = new ResizeObserver(() => {
      links.scrollLeft = active.offsetLeft - (links.clientWidth - active.clientWidth) / 2;
    });
    resized.observe(links);
    return () => resized.disconnect();
    // Another page has another active link.
    // oxlint-disable-next-line react/exhaustive-effect-dependencies
  }, [pathname]);
  return row;
}
