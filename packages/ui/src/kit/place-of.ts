import type { VirtualItem } from '@tanstack/react-virtual';
import type { CSSProperties } from 'react';

/** Positions a row of an `in-sight` list. */
export function placeOf({ size, start }: VirtualItem): CSSProperties {
  return { height: size, transform: `translateY(${start}px)` };
}
