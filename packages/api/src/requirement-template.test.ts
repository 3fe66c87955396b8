import { describe, expect, it } from 'vitest';
import { and, one, soft } from '@svc/auth';
import type { RequirementTemplate } from '@svc/contract';
import { requirementOf, type TemplateValues } from './requirement-template.ts';

const object = 'arn:svc:fs:::repository/{path.repository}/object/{query.path}';
const values = { path: { repository: 'r1' }, query: { path: 'a/{path.repository}*' }, body: undefined };

const requirementFrom = (template: RequirementTemplate, given: TemplateValues) =>
  requirementOf(template)(given);

describe('requirement template', () => {
  it('inserts decoded values once, as they are', () => {
    expect(requirementFrom({ type: 'one', action: 'fs:ReadObject', resource: object }, values)).toStrictEqual(
      one('fs:ReadObject', 'arn:svc:fs:::repository/r1/object/a/{path.repository}*'),
    );
    expect(requirementFrom({ type: 'soft', action: 'a:b', resource: '*' }, values)).toStrictEqual(
      soft('a:b', '*'),
    );
  });

  it('asks for every element of a list', () => {
    const each: RequirementTemplate = {
      type: 'and',
      nodes: [
        { type: 'one', action: 'a:b', resource: '*' },
        { type: 'each', of: 'paths', node: { type: 'one', action: 'c:d', resource: 'x/{item.to}' } },
      ],
    };
    const body = { paths: [{ to: 'p' }, { to: 'q' }] };
    expect(requirementFrom(each, { ...values, body })).toStrictEqual(
      and(one('a:b', '*'), and(one('c:d', 'x/p'), one('c:d', 'x/q'))),
    );
    expect(requirementFrom(each, { ...values, body: { paths: [] } })).toStrictEqual(one('a:b', '*'));
    const names: RequirementTemplate = {
      type: 'deferred',
      reason: 'each path is answered by itself',
      node: { type: 'each', of: 'paths', node: { type: 'one', action: 'c:d', resource: 'x/{item}' } },
    };
    expect(requirementFrom(names, { ...values, body: { paths: ['p'] } })).toBeUndefined();
  });

  it('chooses by a flag', () => {
    const template: RequirementTemplate = {
      type: 'choose',
      query: 'update',
      whenTrue: { type: 'one', action: 'auth:UpdatePolicy', resource: 'p/{body.id}' },
      otherwise: { type: 'one', action: 'auth:CreatePolicy', resource: 'p/{body.id}' },
    };
    const body = { id: 'x' };
    expect(requirementFrom(template, { ...values, body, query: { update: true } })).toMatchObject({
      action: 'auth:UpdatePolicy',
    });
    expect(requirementFrom(template, { ...values, body })).toMatchObject({ action: 'auth:CreatePolicy' });
  });

  it('treats a missing value as the mistake it is', () => {
    const template: RequirementTemplate = { type: 'one', action: 'a:b', resource: 'x/{body.id}' };
    expect(() => requirementFrom(template, values)).toThrow(/no value for \{body\.id\}/);
    expect(() => requirementFrom({ ...template, resource: 'x/{path.toString}' }, values)).toThrow(/no value/);
    expect(() => requirementFrom({ type: 'each', of: 'paths', node: template }, values)).toThrow(
      /not a list/,
    );
  });
});
