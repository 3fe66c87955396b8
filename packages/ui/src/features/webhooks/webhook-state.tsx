import type { ReactNode } from 'react';
import { Tag } from '../../kit/basics.tsx';
import type { Subscription } from '../../lib/api.ts';

const colours = { active: 'added', failing: 'changed', disabled: 'removed' } as const;

export function WebhookState({ state }: { state: Subscription['state'] }): ReactNode {
  return <Tag kind={colours[state]}>{state}</Tag>;
}
