import type { components } from '@svc/client';
import { formatBytes, formatCount } from '../../lib/format.ts';

/** A number of objects with their bytes. */
export function shownCount({ objects, bytes }: components['schemas']['GcCount']): string {
  return objects === 0 ? '–' : `${formatCount(objects)} (${formatBytes(bytes)})`;
}
