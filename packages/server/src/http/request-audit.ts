import type { FinishedRequest } from '@svc/api';
import { arn, leadingPermission, type AuditEntry, type AuditWriter } from '@svc/auth';
import type { RequestRecord } from '@svc/gateway';

export interface AuditChoice {
  /** Keep reads as well. */
  readonly reads: boolean;
  /** Keep writes and deletions of single objects as well. */
  readonly objects: boolean;
}

/** Strangers must not push out what users did: no more of their requests are kept in a second. */
const maxStrangersPerSecond = 20;

/** Decides which requests are kept in the audit log, and as what. */
export class RequestAudit {
  readonly #writer: Pick<AuditWriter, 'add'>;
  readonly #choice: AuditChoice;
  #strangersSecond = 0;
  #strangers = 0;

  constructor(writer: Pick<AuditWriter, 'add'>, choice: AuditChoice) {
    this.#writer = writer;
    this.#choice = choice;
  }

  addApi(request: FinishedRequest): void {
    const { requirement } = request;
    if (isUnanswered(request)) return;
    if (isRead(request) && !this.#choice.reads && !isRefused(request)) return;
    const required = requirement === undefined ? undefined : leadingPermission(requirement);
    if (!this.#choice.objects && !isRead(request) && isOfObject(required) && !isRefused(request)) return;
    this.#add({
      time: Date.now(),
      requestId: request.requestId,
      service: 'api',
      operation: request.operationId,
      user: request.username,
      accessKeyId: request.accessKeyId,
      action: required?.action,
      resource: required?.resource ?? namedRepository(request.params),
      status: request.status,
      sourceIp: request.clientIp,
    });
  }

  addGateway(record: RequestRecord): void {
    const { repository, path, identity } = record;
    const isWanted = isRead(record) ? this.#choice.reads : this.#choice.objects;
    if (!isWanted && !isRefused(record)) return;
    this.#add({
      time: Date.now(),
      requestId: record.requestId,
      service: 's3',
      operation: record.operation,
      user: identity?.user.username,
      accessKeyId: identity?.accessKeyId,
      resource: repository === undefined ? undefined : resourceOf(repository, path),
      status: record.status,
      sourceIp: record.remoteAddress,
    });
  }

  #add(entry: AuditEntry): void {
    if (entry.user === undefined) {
      const second = Math.floor(entry.time / 1000);
      if (second !== this.#strangersSecond) {
        this.#strangersSecond = second;
        this.#strangers = 0;
      }
      if (++this.#strangers > maxStrangersPerSecond) return;
    }
    this.#writer.add(entry);
  }
}

/** Sent as if they changed something, which they do not. */
const readsByPost = new Set(['postStatsEvents', 'previewMerge', 'simulatePermission']);

function isRead({
  method,
  operationId,
}: {
  readonly method: string;
  readonly operationId?: string;
}): boolean {
  return method === 'GET' || method === 'HEAD' || (operationId !== undefined && readsByPost.has(operationId));
}

/** A program asks whether its login was approved, and nobody has yet. */
function isUnanswered({ operationId, username, status }: FinishedRequest): boolean {
  return operationId === 'finishCliLogin' && username === undefined && status === 200;
}

function isRefused({ status }: { readonly status: number }): boolean {
  return status === 401 || status === 403;
}

function isOfObject(required: { readonly resource: string } | undefined): boolean {
  return required?.resource.includes('/object/') === true;
}

/** What a request is about at least, where the operation itself worked out what it needs. */
function namedRepository({ repository }: Readonly<Record<string, string>>): string | undefined {
  return repository === undefined ? undefined : arn.repository(repository);
}

function resourceOf(repository: string, path: string | undefined): string {
  return path === undefined || path === '' ? arn.repository(repository) : arn.object(repository, path);
}
