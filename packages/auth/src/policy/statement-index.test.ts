import { expect, it } from 'vitest';
import { arn } from '../requirement.ts';
import { ConditionContext } from './condition.ts';
import { compileResource } from './resource-pattern.ts';
import { StatementIndex } from './statement-index.ts';

it('asks only the statements whose resource begins like what is asked for', () => {
  const index = new StatementIndex();
  const asked: number[] = [];
  for (let order = 0; order < 50; order++) {
    const resource = compileResource(`arn:svc:fs:::repository/team-${order}-*/object/*.parquet`, 'alice');
    if (resource === undefined || resource === 'everything') throw new Error('not a pattern');
    const { matchesRest } = resource.wildcard;
    const counted = (text: string): boolean => {
      asked.push(order);
      return matchesRest(text);
    };
    index.add({
      order,
      denies: false,
      actionPattern: 'fs:ReadObject',
      condition: undefined,
      resource: { ...resource, wildcard: { ...resource.wildcard, matchesRest: counted } },
    });
  }
  const anywhere = new ConditionContext('192.0.2.1');
  expect(index.decide(arn.object('team-49-x', 'a/b/c.parquet'), anywhere).effect).toBe('allow');
  expect(asked).toEqual([49]);
  expect(index.decide(arn.object('team-50-x', 'a/b/c.parquet'), anywhere).effect).toBe('neutral');
  expect(asked).toEqual([49]);
});
