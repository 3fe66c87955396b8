import type { KvExpectation, KvGuard, KvWrite } from '../../store.ts';

/**
 * Whether a change depends on nothing but that keys are absent. lmdb cannot tell a condition of one write from that of
 * all.
 */
export function dependsOnAbsenceOnly(
  { key: guarded, condition }: KvGuard,
  writes: readonly KvWrite[],
  still: KvExpectation | undefined,
): boolean {
  if (still?.value !== undefined || (condition !== 'absent' && condition !== 'any')) return false;
  return writes.every(
    ({ type, key }) => type !== 'create' || (condition === 'absent' && Buffer.compare(key, guarded) === 0),
  );
}
