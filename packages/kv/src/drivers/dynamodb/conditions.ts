import type { KvCondition } from '../../store.ts';
import { predicateItem, type Binary } from './items.ts';

export interface ConditionInput {
  readonly ConditionExpression?: string;
  readonly ExpressionAttributeValues?: Readonly<Record<string, Binary>>;
}

export const absent: ConditionInput = { ConditionExpression: 'attribute_not_exists(ItemValue)' };
const present: ConditionInput = { ConditionExpression: 'attribute_exists(ItemValue)' };

/** The condition in the words of the service, or undefined when it can never hold. */
export function conditionInput(condition: KvCondition | 'any'): ConditionInput | undefined {
  if (condition === 'any') return {};
  if (condition === 'absent') return absent;
  if (condition === 'present') return present;
  const expected = predicateItem(condition);
  return (
    expected && {
      ConditionExpression: 'ItemValue = :old',
      ExpressionAttributeValues: { ':old': expected.ItemValue },
    }
  );
}
