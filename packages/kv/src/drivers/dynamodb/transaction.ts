import { randomUUID } from 'node:crypto';
import type { OwnedChange, OwnedWrite } from '../../arguments.ts';
import { KvError } from '../../errors.ts';
import { Attempts } from '../../remote/back-off.ts';
import type { DynamoClient } from './client.ts';
import { absent, conditionInput, type ConditionInput } from './conditions.ts';
import { address, isPossible, type Address, type StoredValue } from './items.ts';
import { isConflict, isThrottled, refusalError, type Refusal } from './refusals.ts';

/** One action of a transaction. `role` says what a failed condition of it means. */
export type Action = {
  readonly role: 'guard' | 'create' | 'write';
  readonly at: Address;
  readonly condition: ConditionInput;
} & (
  | { readonly type: 'put'; readonly stored: StoredValue }
  | { readonly type: 'delete' }
  | { readonly type: 'check' }
);

/** The actions of a change, or undefined when its guard can never hold. */
export async function planActions(
  change: OwnedChange,
  store: (value: Buffer) => StoredValue | Promise<StoredValue>,
): Promise<Action[] | undefined> {
  const { partition, guard, guarded } = change;
  const condition = conditionInput(guard.condition);
  const mustBeThere = guard.condition !== 'any' && guard.condition !== 'absent';
  if (condition === undefined || (mustBeThere && !isPossible(partition, guard.key))) return undefined;
  const plan = async (write: OwnedWrite, guarding?: ConditionInput): Promise<Action> => {
    const isCreation = guarding === undefined && write.type === 'create';
    const common = {
      role: guarding !== undefined ? 'guard' : isCreation ? 'create' : 'write',
      at: address(partition, write.key),
      condition: guarding ?? (isCreation ? absent : {}),
    } as const;
    if (write.type === 'delete') return { ...common, type: 'delete' };
    return { ...common, type: 'put', stored: await store(write.value) };
  };
  const actions: Action[] = [];
  const others = [...change.others];
  if (guard.condition === 'any') {
    if (guarded !== undefined) others.push(guarded);
  } else if (guarded === undefined || (guarded.type === 'create' && mustBeThere)) {
    // A guarded key is present: creating it is left out.
    actions.push({ type: 'check', role: 'guard', at: address(partition, guard.key), condition });
  } else {
    actions.push(await plan(guarded, condition));
  }
  for (const write of others) if (isPossible(partition, write.key)) actions.push(await plan(write));
  return actions;
}

/**
 * Makes the actions as one step and returns those made, or undefined when the guard did not hold. A creation of what
 * is there already is left out and the rest made again. The token makes an attempt whose answer was lost the same as its repetition.
 */
export async function transact(
  client: DynamoClient,
  table: string,
  planned: readonly Action[],
  capacity: object,
): Promise<readonly Action[] | undefined> {
  const attempts = new Attempts(Infinity);
  let actions = planned;
  while (actions.length > 0) {
    const { refusal } = await client.call('TransactWriteItems', {
      ClientRequestToken: randomUUID(),
      TransactItems: actions.map((action) => transactItem(table, action)),
      ...capacity,
    });
    if (refusal === undefined) return actions;
    if (refusal.type !== 'TransactionCanceledException') throw refusalError(refusal);
    const failed = actions.filter((_, index) => codeAt(refusal, index) === 'ConditionalCheckFailed');
    if (failed.some(({ role }) => role === 'guard')) return undefined;
    if (failed.length > 0) {
      actions = actions.filter((each) => !failed.includes(each));
    } else if (!refusal.reasons.some(({ Code }) => isConflict(Code) || isThrottled(Code))) {
      throw refusalError(refusal);
    } else if (!(await attempts.again())) {
      throw new KvError(
        'slow_down',
        `dynamodb: ${refusal.message}; other writers held the entries all the time`,
      );
    }
  }
  return actions;
}

function codeAt({ reasons }: Refusal, index: number): string | undefined {
  return reasons[index]?.Code;
}

function transactItem(TableName: string, action: Action): object {
  const { at, condition } = action;
  switch (action.type) {
    case 'check':
      return { ConditionCheck: { TableName, Key: at, ...condition } };
    case 'delete':
      return { Delete: { TableName, Key: at, ...condition } };
    case 'put':
      return { Put: { TableName, Item: { ...at, ...action.stored }, ...condition } };
  }
}
