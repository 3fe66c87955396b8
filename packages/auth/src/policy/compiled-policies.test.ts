import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Decision } from '../identity.ts';
import type { Policy, Statement } from '../model.ts';
import { and, arn, one, or, soft, type Requirement } from '../requirement.ts';
import { CompiledPolicies } from './compiled-policies.ts';
import { ConditionContext } from './condition.ts';
import { evaluateNaively } from '../../test/naive-evaluator.ts';

const anywhere = new ConditionContext('192.0.2.1');

function policy(...statement: Statement[]): Policy {
  return { id: 'p', createdAt: 0, statement };
}

function allow(action: string | string[], resource: string, more: Partial<Statement> = {}): Statement {
  return { effect: 'allow', action: [action].flat(), resource, ...more };
}

function deny(action: string | string[], resource: string, more: Partial<Statement> = {}): Statement {
  return { ...allow(action, resource, more), effect: 'deny' };
}

function decide(
  statements: Statement[],
  requirement: Requirement,
  options: { user?: string; ip?: string } = {},
) {
  const compiled = new CompiledPolicies(options.user ?? 'alice', [policy(...statements)]);
  const decision = compiled.check(
    requirement,
    options.ip === undefined ? anywhere : new ConditionContext(options.ip),
  );
  return decision.allowed ? 'allowed' : decision.message;
}

/** Without what was asked for, which the naive evaluator does not tell. */
function outcomeOf(decision: Decision): Decision {
  return decision.allowed ? decision : { allowed: false, message: decision.message };
}

describe('permission check', () => {
  it('grants exactly what a statement names and says what is missing', () => {
    const grants = [allow('fs:ReadObject', 'arn:svc:fs:::repository/r1/object/*')];
    expect(decide(grants, one('fs:ReadObject', arn.object('r1', 'dir/a')))).toBe('allowed');
    expect(decide(grants, one('fs:ReadObject', arn.object('r2', 'dir/a')))).toBe(
      'insufficient permissions: not allowed to fs:ReadObject',
    );
    expect(decide(grants, one('fs:ListObjects', arn.repository('r1')))).toBe(
      'insufficient permissions: not allowed to fs:ListObjects',
    );
  });

  it('lets a denial win and names its pattern', () => {
    const grants = [allow('fs:*', '*'), deny('fs:Delete*', 'arn:svc:fs:::repository/r1/*')];
    expect(decide(grants, one('fs:DeleteObject', arn.object('r1', 'a')))).toBe(
      'insufficient permissions: denied permission to fs:Delete*',
    );
    expect(decide(grants, one('fs:DeleteObject', arn.object('r2', 'a')))).toBe('allowed');
    expect(decide(grants, one('fs:DeleteRepository', arn.repository('r1')))).toBe('allowed');
    expect(decide([...grants].reverse(), one('fs:DeleteObject', arn.object('r1', 'a')))).toMatch(/denied/);
  });

  it('matches a required * only by *', () => {
    expect(decide([allow('auth:ListUsers', 'arn:svc:auth:::*')], one('auth:ListUsers', '*'))).toMatch(
      /not allowed/,
    );
    expect(decide([allow('auth:ListUsers', '*')], one('auth:ListUsers', '*'))).toBe('allowed');
  });

  it('inserts the user name as plain text', () => {
    const own = [allow('auth:ListCredentials', 'arn:svc:auth:::user/${user}')];
    expect(decide(own, one('auth:ListCredentials', arn.user('bob')), { user: '*' })).toMatch(/not allowed/);
    expect(decide(own, one('auth:ListCredentials', arn.user('*')), { user: '*' })).toBe('allowed');
    expect(decide(own, one('auth:ListCredentials', arn.user('a:b')), { user: 'a:b' })).toBe('allowed');
    expect(decide([allow('fs:*', '${user}')], one('fs:ReadConfig', '*'), { user: '*' })).toMatch(
      /not allowed/,
    );
    const twice = [allow('fs:*', 'arn:svc:fs:::repository/${user}/branch/${user}-*')];
    expect(decide(twice, one('fs:ReadBranch', arn.branch('al?ce', 'al?ce-1')), { user: 'al?ce' })).toBe(
      'allowed',
    );
    expect(decide(twice, one('fs:ReadBranch', arn.branch('alice', 'alice-1')), { user: 'al?ce' })).toMatch(
      /not/,
    );
    expect(decide([allow('auth:${user}', '*')], one('auth:ReadUser', '*'), { user: 'ReadUser' })).toMatch(
      /not/,
    );
  });

  it('reads a list of resources', () => {
    const listed = [
      allow('fs:ReadRepository', '["arn:svc:fs:::repository/r1","arn:svc:fs:::repository/r2"]'),
    ];
    expect(decide(listed, one('fs:ReadRepository', arn.repository('r1')))).toBe('allowed');
    expect(decide(listed, one('fs:ReadRepository', arn.repository('r2')))).toBe('allowed');
    expect(decide(listed, one('fs:ReadRepository', arn.repository('r3')))).toMatch(/not allowed/);
    const broken = [allow('fs:*', '*'), allow('ci:ReadAction', '["arn:svc:fs:::repository/r1",]')];
    expect(decide(broken, one('fs:ReadRepository', arn.repository('r1')))).toBe(
      'insufficient permissions: not allowed',
    );
  });

  it('ignores the region but not account, service or partition', () => {
    const asked = one('fs:ReadRepository', arn.repository('r1'));
    const grants = (resource: string) => decide([allow('fs:ReadRepository', resource)], asked);
    expect(grants('arn:svc:fs:any-region::repository/r1')).toBe('allowed');
    expect(grants('arn:lakefs:fs:::repository/r1')).toBe('allowed');
    expect(grants('arn:svc:fs::42:repository/r1')).toMatch(/not allowed/);
    expect(grants('arn:svc:*:::repository/r1')).toMatch(/not allowed/);
    expect(grants('arn:aws:fs:::repository/r1')).toMatch(/not allowed/);
    expect(grants('arn:svc:auth:::repository/r1')).toMatch(/not allowed/);
  });

  it('counts code points for ?', () => {
    const grants = [allow('fs:ReadRepository', 'arn:svc:fs:::repository/r?')];
    const reads = (name: string) => decide(grants, one('fs:ReadRepository', arn.repository(name)));
    expect(reads('r1')).toBe('allowed');
    expect(reads('ré')).toBe('allowed');
    expect(reads('r😀')).toBe('allowed');
    expect(reads('r')).toMatch(/not allowed/);
    expect(reads('r10')).toMatch(/not allowed/);
  });

  it('treats wildcards in what is asked for as plain characters', () => {
    const asked = one('fs:ReadObject', arn.object('r1', 'a:b*c'));
    expect(decide([allow('fs:ReadObject', 'arn:svc:fs:::repository/r1/object/a:b*')], asked)).toBe('allowed');
    expect(decide([allow('fs:ReadObject', 'arn:svc:fs:::repository/r1/object/a:b*c')], asked)).toBe(
      'allowed',
    );
    expect(decide([allow('fs:ReadObject', 'arn:svc:fs:::repository/r1/object/a:bXc')], asked)).toMatch(
      /not allowed/,
    );
  });

  it('applies IP conditions to allowances and denials', () => {
    const asked = one('fs:ReadConfig', '*');
    const inside = [allow('fs:*', '*', { condition: { IpAddress: { SourceIp: [' 10.0.0.0/8 '] } } })];
    expect(decide(inside, asked, { ip: '10.1.2.3' })).toBe('allowed');
    expect(decide(inside, asked, { ip: '::ffff:10.1.2.3' })).toBe('allowed');
    expect(decide(inside, asked, { ip: '11.0.0.1' })).toMatch(/not allowed/);
    expect(decide(inside, asked, { ip: '' })).toMatch(/not allowed/);
    expect(decide(inside, asked, { ip: 'nonsense' })).toBe('insufficient permissions: not allowed');
    const outside = [
      allow('fs:*', '*'),
      deny('fs:*', '*', { condition: { NotIpAddress: { SourceIp: ['10.0.0.0/8'] } } }),
    ];
    expect(decide(outside, asked, { ip: '10.1.2.3' })).toBe('allowed');
    expect(decide(outside, asked, { ip: '11.0.0.1' })).toMatch(/denied permission to fs:\*/);
  });

  it('needs every operator and field of a condition, and any one value', () => {
    const asked = one('fs:ReadConfig', '*');
    const under = (condition: NonNullable<Statement['condition']>, ip = '10.1.2.3') =>
      decide([allow('fs:*', '*', { condition })], asked, { ip });
    expect(under({ IpAddress: { SourceIp: ['192.168.0.1', '10.1.2.3'] } })).toBe('allowed');
    expect(under({ StringLike: { SourceIp: ['10.1.*'] } })).toBe('allowed');
    expect(under({ StringNotLike: { SourceIp: ['10.1.*'] } })).toMatch(/not allowed/);
    expect(under({ IpAddress: { SourceIp: ['10.0.0.0/8'] }, StringNotLike: { SourceIp: ['10.*'] } })).toMatch(
      /not/,
    );
    expect(under({ IpAddress: { SourceIp: [] } })).toMatch(/not allowed/);
    expect(under({ NotIpAddress: { SourceIp: [] } })).toBe('allowed');
    expect(under({ NotIpAddress: { Other: ['10.0.0.0/8'] } })).toMatch(/not allowed/);
    expect(under({ IpAddress: { SourceIp: ['2001:db8::/32'] } }, '2001:db8:1::7')).toBe('allowed');
    expect(under({ IpAddress: { SourceIp: ['2001:db8::/32'] } }, '2001:db9::7')).toMatch(/not allowed/);
    expect(under({ IpAddress: { SourceIp: ['nonsense'] } })).toBe('insufficient permissions: not allowed');
    expect(under({ Unknown: { SourceIp: ['x'] } })).toBe('insufficient permissions: not allowed');
  });

  it('names the first leaf of an and that fails', () => {
    const cherryPick = and(
      one('fs:CreateCommit', arn.branch('r1', 'main')),
      one('fs:ReadCommit', arn.repository('r1')),
    );
    expect(decide([allow('fs:CreateCommit', 'arn:svc:fs:::repository/r1/branch/*')], cherryPick)).toBe(
      'insufficient permissions: not allowed to fs:ReadCommit',
    );
    const restore = and(
      one('fs:CreateTag', arn.repository('r1')),
      one('fs:CreateBranch', arn.repository('r1')),
      one('fs:CreateCommit', arn.repository('r1')),
    );
    const grants = [
      allow('fs:CreateTag', 'arn:svc:fs:::repository/r1/tag/*'),
      allow(['fs:CreateBranch', 'fs:CreateCommit'], 'arn:svc:fs:::repository/r1'),
    ];
    expect(decide(grants, restore)).toBe('insufficient permissions: not allowed to fs:CreateTag');
  });

  it('tells which of several leaves was refused', () => {
    const grants = new CompiledPolicies('alice', [
      policy(allow('fs:CreateCommit', '*'), deny('fs:ReadTag', '*')),
    ]);
    const lacks = (...nodes: Requirement[]) => grants.check(and(...nodes), anywhere);
    const commit = one('fs:CreateCommit', arn.branch('r1', 'main'));
    expect(lacks(commit, one('fs:ReadCommit', arn.repository('r1')))).toMatchObject({
      required: { action: 'fs:ReadCommit', resource: 'arn:svc:fs:::repository/r1' },
    });
    expect(lacks(commit, soft('fs:ReadTag', arn.tag('r1', 't')))).toMatchObject({
      required: { action: 'fs:ReadTag', resource: 'arn:svc:fs:::repository/r1/tag/t' },
    });
  });

  it('lets a soft leaf pass unless it is denied', () => {
    const create = and(
      one('fs:CreateRepository', arn.repository('new')),
      soft('fs:AttachStorageNamespace', arn.namespace('s3://prod/x')),
    );
    const grants = [allow('fs:CreateRepository', 'arn:svc:fs:::repository/new')];
    expect(decide(grants, create)).toBe('allowed');
    const denied = [...grants, deny('fs:AttachStorageNamespace', 'arn:svc:fs:::namespace/s3://prod/*')];
    expect(decide(denied, create)).toBe(
      'insufficient permissions: denied permission to fs:AttachStorageNamespace',
    );
  });

  it('answers an or by denial first, then allowance', () => {
    const either = or(one('fs:ReadTag', '*'), one('fs:ReadBranch', '*'));
    expect(decide([allow('fs:ReadBranch', '*')], either)).toBe('allowed');
    expect(decide([allow('fs:ReadBranch', '*'), deny('fs:ReadTag', '*')], either)).toMatch(
      /denied .*fs:ReadTag/,
    );
    expect(decide([], either)).toBe('insufficient permissions: not allowed to fs:ReadTag,fs:ReadBranch');
  });

  it('refuses an empty and, an unknown node and an unknown effect', () => {
    expect(decide([allow('fs:*', '*')], and())).toBe('insufficient permissions: not allowed');
    expect(decide([allow('fs:*', '*')], { type: 'maybe' } as unknown as Requirement)).toMatch(/not allowed/);
    expect(decide([allow('fs:*', '*', { effect: 'Allow' })], one('fs:ReadConfig', '*'))).toMatch(/denied/);
  });

  it('agrees with the naive evaluator on random policies', () => {
    const word = fc.stringMatching(/^[ab*?:/é😀]{0,5}$/u);
    const resource = fc.oneof(
      fc.constant('*'),
      word.map((text) => `arn:svc:fs:::${text}`),
      fc.tuple(word, word).map(([a, b]) => `arn:lakefs:fs:eu:${a}:${b}\${user}`),
      fc
        .array(
          word.map((text) => `arn:svc:fs:::${text}`),
          { maxLength: 3 },
        )
        .map((list) => JSON.stringify(list)),
      fc.constant('[broken]'),
      word,
    );
    const action = fc.constantFrom(
      'fs:ReadObject',
      'fs:Read*',
      'fs:*',
      'fs:?eadObject',
      'fs:ListObjects',
      'ci:*',
    );
    const values = fc.array(fc.constantFrom('10.0.0.0/8', '10.1.2.3', '::1', '10.*', 'bad/99'), {
      maxLength: 2,
    });
    const condition = fc.dictionary(
      fc.constantFrom('IpAddress', 'NotIpAddress', 'StringLike', 'StringNotLike'),
      fc.dictionary(fc.constantFrom('SourceIp', 'Other'), values, { maxKeys: 2 }),
      { maxKeys: 2 },
    );
    const statement: fc.Arbitrary<Statement> = fc.record(
      {
        effect: fc.constantFrom('allow', 'allow', 'allow', 'deny'),
        action: fc.array(action, { minLength: 1, maxLength: 3 }),
        resource,
        condition,
        principal: fc.constant(['anonymous']),
      },
      { requiredKeys: ['effect', 'action', 'resource'] },
    );
    const leaf: fc.Arbitrary<Requirement> = fc.record({
      type: fc.constantFrom('one' as const, 'soft' as const),
      action: fc.constantFrom('fs:ReadObject', 'fs:ListObjects', 'ci:ReadAction'),
      resource: fc.oneof(
        fc.constant('*'),
        word.map((text) => `arn:svc:fs:::${text}x`),
        word,
      ),
    });
    const { tree } = fc.letrec<{ tree: Requirement; nodes: Requirement[] }>((tie) => ({
      nodes: fc.array(tie('tree'), { minLength: 1, maxLength: 3 }),
      tree: fc.oneof(
        { maxDepth: 2 },
        leaf,
        fc.record({ type: fc.constantFrom('and' as const, 'or' as const), nodes: tie('nodes') }),
      ),
    }));
    let decided = 0;
    fc.assert(
      fc.property(
        fc.array(statement, { maxLength: 5 }),
        tree,
        fc.constantFrom('x', '*', 'a:b', '😀'),
        fc.constantFrom('10.1.2.3', '::1', '', 'garbage'),
        (statements, requirement, user, ip) => {
          const policies = [policy(...statements)];
          const expected = evaluateNaively(policies, requirement, { user, ip });
          const decision = new CompiledPolicies(user, policies).check(requirement, new ConditionContext(ip));
          expect(outcomeOf(decision)).toStrictEqual(expected);
          if (decision.allowed) decided++;
        },
      ),
      { numRuns: 3000 },
    );
    expect(decided).toBeGreaterThan(100);
  });
});
