import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluateNaively } from '../../test/naive-evaluator.ts';
import type { Policy, Statement } from '../model.ts';
import { and, arn, every, one, softEvery, type Requirement } from '../requirement.ts';
import { CompiledPolicies } from './compiled-policies.ts';
import { ConditionContext } from './condition.ts';

function allow(resource: string, more: Partial<Statement> = {}): Statement {
  return { effect: 'allow', action: ['fs:ReadObject'], resource, ...more };
}

function deny(resource: string, more: Partial<Statement> = {}): Statement {
  return { ...allow(resource, more), effect: 'deny' };
}

function decide(statement: Statement[], requirement: Requirement, user = 'alice'): string {
  const compiled = new CompiledPolicies(user, [{ id: 'p', createdAt: 0, statement }]);
  const decision = compiled.check(requirement, new ConditionContext('10.1.2.3'));
  return decision.allowed ? 'allowed' : decision.message;
}

const objects = 'arn:svc:fs:::repository/r1/object/';
const all = every('fs:ReadObject', arn.object('r1', ''));

describe('a requirement on every resource', () => {
  it('is met by a statement that covers all of them', () => {
    for (const resource of [
      '*',
      `${objects}*`,
      `${objects}**`,
      'arn:svc:fs:::repository/r?/object/*',
      'arn:svc:fs:::repository/*',
      'arn:svc:fs:::*',
      'arn:lakefs:fs:::*/object*',
      `["arn:svc:fs:::x","${objects}*"]`,
    ]) {
      expect([resource, decide([allow(resource)], all)]).toStrictEqual([resource, 'allowed']);
    }
    expect(decide([allow('arn:svc:fs:::repository/${user}/*')], all, 'r1')).toBe('allowed');
  });

  it('is not met by patterns that match the text of a wildcard only, or most names', () => {
    for (const resource of [
      `${objects}?`,
      `${objects}?*`,
      `${objects}*a`,
      `${objects}a*`,
      `${objects}*/*`,
      objects,
      'arn:svc:fs:::repository/r2/object/*',
      'arn:svc:fs::42:repository/r1/object/*',
      'arn:svc:auth:::*',
    ]) {
      expect([resource, decide([allow(resource)], all)]).toStrictEqual([
        resource,
        'insufficient permissions: not allowed to fs:ReadObject',
      ]);
    }
    expect(decide([allow('arn:svc:fs:::repository/${user}/*')], all, '*')).toMatch(/not allowed/);
  });

  it('is refused by a denial anywhere below, and by no other', () => {
    const denied = 'insufficient permissions: denied permission to fs:ReadObject';
    for (const resource of [
      `${objects}secret/x`,
      `${objects}*.key`,
      '*',
      'arn:svc:fs:::*/x',
      `["${objects}a"]`,
    ]) {
      expect([resource, decide([allow('*'), deny(resource)], all)]).toStrictEqual([resource, denied]);
      expect(decide([deny(resource)], softEvery('fs:ReadObject', objects))).toBe(denied);
    }
    for (const resource of ['arn:svc:fs:::repository/r2/object/*', 'arn:svc:fs:::repository/r1/branch/*']) {
      expect([resource, decide([allow('*'), deny(resource)], all)]).toStrictEqual([resource, 'allowed']);
      expect(decide([deny(resource)], softEvery('fs:ReadObject', objects))).toBe('allowed');
    }
    expect(decide([allow('*'), deny('*', { action: ['fs:WriteObject'] })], all)).toBe('allowed');
  });

  it('counts statements whose conditions hold', () => {
    const here = { condition: { IpAddress: { SourceIp: ['10.0.0.0/8'] } } };
    const elsewhere = { condition: { IpAddress: { SourceIp: ['11.0.0.0/8'] } } };
    expect(decide([allow('*', here)], all)).toBe('allowed');
    expect(decide([allow('*', elsewhere)], all)).toMatch(/not allowed/);
    expect(decide([allow('*'), deny(`${objects}a`, here)], all)).toMatch(/denied/);
    expect(decide([allow('*'), deny(`${objects}a`, elsewhere)], all)).toBe('allowed');
    expect(decide([allow('*'), allow('[broken]')], all)).toBe('insufficient permissions: not allowed');
  });

  it('stands beside other requirements', () => {
    const both = and(one('fs:ReadObject', arn.object('r1', 'a')), all);
    expect(decide([allow(`${objects}a`)], both)).toMatch(/not allowed/);
    expect(decide([allow(`${objects}*`)], both)).toBe('allowed');
  });

  /** All texts of up to three characters; none of the patterns below is longer, and none holds a `z`. */
  const endings = [''];
  for (let from = 0, length = 0; length < 3; length++) {
    const until = endings.length;
    for (; from < until; from++) for (const next of 'a😀z') endings.push(`${endings[from]}${next}`);
  }

  const pattern = fc.stringMatching(/^[a😀*?]{0,3}$/u).map((text) => `arn:svc:fs:::x${text}`);
  const start = fc.stringMatching(/^[a😀]{0,2}$/u).map((text) => `arn:svc:fs:::x${text}`);

  function naively(statement: Statement[], resource: string): 'allow' | 'neutral' | 'deny' {
    const policies: Policy[] = [{ id: 'p', createdAt: 0, statement }];
    const decision = evaluateNaively(policies, one('fs:ReadObject', resource), {
      user: 'alice',
      ip: '10.1.2.3',
    });
    if (decision.allowed) return 'allow';
    return decision.message.includes('denied') ? 'deny' : 'neutral';
  }

  it('agrees with asking for each resource by itself', () => {
    const seen = { allowed: 0, denied: 0, missing: 0 };
    const statement = fc
      .tuple(fc.constantFrom(allow, deny), pattern)
      .map(([make, resource]) => make(resource));
    fc.assert(
      fc.property(fc.array(statement, { maxLength: 4 }), start, (statements, from) => {
        const answers = new Set(endings.map((ending) => naively(statements, `${from}${ending}`)));
        const decision = decide(statements, every('fs:ReadObject', from));
        const isDenied = answers.has('deny');
        expect(decision.includes('denied')).toBe(isDenied);
        expect(decide(statements, softEvery('fs:ReadObject', from)) === 'allowed').toBe(!isDenied);
        const everyOne = answers.size === 1 && answers.has('allow');
        if (decision === 'allowed') expect(everyOne).toBe(true);
        // Allowances that cover everything only together may be overlooked, a single one never.
        else if (statements.filter(({ effect }) => effect === 'allow').length === 1)
          expect(everyOne).toBe(false);
        seen[decision === 'allowed' ? 'allowed' : isDenied ? 'denied' : 'missing'] += 1;
      }),
      { numRuns: 400 },
    );
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(4);
  });
});
