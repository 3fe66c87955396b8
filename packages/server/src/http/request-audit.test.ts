import type { FinishedRequest } from '@svc/api';
import { and, arn, one, type AuditEntry } from '@svc/auth';
import type { RequestRecord } from '@svc/gateway';
import { describe, expect, it } from 'vitest';
import { RequestAudit, type AuditChoice } from './request-audit.ts';

const quiet: AuditChoice = { reads: false, objects: false };

function kept(choice: AuditChoice, tell: (audit: RequestAudit) => void): AuditEntry[] {
  const entries: AuditEntry[] = [];
  tell(new RequestAudit({ add: (entry) => entries.push(entry) }, choice));
  return entries;
}

function api(change: Partial<FinishedRequest> = {}): FinishedRequest {
  return {
    requestId: 'id',
    operationId: 'createBranch',
    method: 'POST',
    url: '/api/v1/x?token=secret',
    status: 201,
    username: 'alice',
    clientIp: '10.0.0.1',
    params: {},
    requirement: and(one('fs:CreateBranch', arn.branch('lake', 'main')), one('fs:ReadConfig', '*')),
    ...change,
  } as FinishedRequest;
}

function s3(change: Partial<RequestRecord> = {}): RequestRecord {
  return {
    requestId: 'id',
    operation: 'put_object',
    method: 'PUT',
    status: 200,
    repository: 'lake',
    path: 'a/b',
    remoteAddress: '10.0.0.1',
    identity: { user: { username: 'alice', createdAt: 0, source: 'internal' }, method: 'sig_v4' },
    ...change,
  } as RequestRecord;
}

describe('the audit of requests', () => {
  it('keeps a change with what it was about, and nothing of the address', () => {
    const [entry] = kept(quiet, (audit) => audit.addApi(api()));
    expect(entry).toMatchObject({
      user: 'alice',
      operation: 'createBranch',
      action: 'fs:CreateBranch',
      resource: 'arn:svc:fs:::repository/lake/branch/main',
      status: 201,
    });
    expect(JSON.stringify(entry)).not.toContain('secret');
  });

  it('keeps the login of a program when somebody has approved it, not each time it asks', () => {
    const asked = api({ operationId: 'finishCliLogin', status: 200, username: undefined });
    expect(kept(quiet, (audit) => audit.addApi(asked))).toEqual([]);
    expect(kept(quiet, (audit) => audit.addApi({ ...asked, username: 'alice' }))).toHaveLength(1);
    expect(kept(quiet, (audit) => audit.addApi({ ...asked, status: 404 }))).toHaveLength(1);
  });

  it('takes what only asks for a read, however it is sent', () => {
    for (const operationId of ['postStatsEvents', 'previewMerge', 'simulatePermission']) {
      const asked = api({ operationId, status: 200 });
      expect(kept(quiet, (audit) => audit.addApi(asked))).toEqual([]);
      expect(kept({ ...quiet, reads: true }, (audit) => audit.addApi(asked))).toHaveLength(1);
      expect(kept(quiet, (audit) => audit.addApi({ ...asked, status: 403 }))).toHaveLength(1);
    }
  });

  const write = api({ requirement: one('fs:WriteObject', arn.object('lake', 'a')) });
  const read = api({
    method: 'GET',
    requirement: one('fs:ReadObject', arn.object('lake', 'a')),
    status: 200,
  });
  it.each<[string, (audit: RequestAudit) => void, AuditChoice]>([
    ['writes of objects', (audit) => audit.addApi(write), { ...quiet, objects: true }],
    ['reads', (audit) => audit.addApi(read), { ...quiet, reads: true }],
    ['writes over S3', (audit) => audit.addGateway(s3()), { ...quiet, objects: true }],
    ['reads over S3', (audit) => audit.addGateway(s3({ method: 'GET' })), { ...quiet, reads: true }],
  ])('keeps %s only when asked to', (_what, tell, choice) => {
    expect(kept(quiet, tell)).toHaveLength(0);
    expect(kept(choice, tell)).toHaveLength(1);
  });

  it('knows the repository where the operation alone knows what it needs', () => {
    const { requirement: _requirement, ...rest } = api({ params: { repository: 'lake' } });
    const [entry] = kept(quiet, (audit) => audit.addApi(rest));
    expect(entry).toMatchObject({ resource: 'arn:svc:fs:::repository/lake' });
    expect(entry?.action).toBeUndefined();
  });

  it('keeps every refusal', () => {
    const entries = kept(quiet, (audit) => {
      audit.addApi(api({ ...read, status: 401 }));
      audit.addApi(api({ ...write, status: 403 }));
      audit.addGateway(s3({ status: 403 }));
      audit.addGateway(s3({ method: 'HEAD', status: 403 }));
    });
    expect(entries).toHaveLength(4);
    expect(entries[2]?.resource).toBe('arn:svc:fs:::repository/lake/object/a/b');
  });

  it('does not let strangers push out what users did', () => {
    const entries = kept(quiet, (audit) => {
      for (let count = 0; count < 1000; count++) audit.addApi(api({ username: undefined, status: 401 }));
      audit.addApi(api());
    });
    // The second may change once while they come.
    expect(entries.length).toBeLessThanOrEqual(41);
    expect(entries.at(-1)?.user).toBe('alice');
  });
});
