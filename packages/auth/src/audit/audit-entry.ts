/** One request: who did what to what, and what came of it. Holds no secret, no query and no body. */
export interface AuditEntry {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly requestId: string;
  readonly service: 'api' | 's3';
  /** Name of the operation. */
  readonly operation: string;
  /** Absent for requests without credentials. */
  readonly user?: string | undefined;
  readonly accessKeyId?: string | undefined;
  /** The permission it needs. */
  readonly action?: string | undefined;
  readonly resource?: string | undefined;
  /** Of the HTTP answer. */
  readonly status: number;
  readonly sourceIp: string;
}

export type AuditResult = 'success' | 'denied' | 'failure';

export function resultOf({ status }: Pick<AuditEntry, 'status'>): AuditResult {
  if (status < 400) return 'success';
  return status === 401 || status === 403 ? 'denied' : 'failure';
}

/** Newest first; entries of one millisecond by the ids of their requests. */
export function compareEntries(a: AuditPlace, b: AuditPlace): number {
  if (a.time !== b.time) return b.time - a.time;
  return a.requestId < b.requestId ? 1 : a.requestId > b.requestId ? -1 : 0;
}

export type AuditPlace = Pick<AuditEntry, 'time' | 'requestId'>;

type Packed = readonly [
  time: number,
  requestId: string,
  service: 'api' | 's3',
  operation: string,
  status: number,
  sourceIp: string,
  user: string | null,
  accessKeyId: string | null,
  action: string | null,
  resource: string | null,
];

export function packEntry(entry: AuditEntry): string {
  const packed: Packed = [
    entry.time,
    entry.requestId,
    entry.service,
    entry.operation,
    entry.status,
    entry.sourceIp,
    entry.user ?? null,
    entry.accessKeyId ?? null,
    entry.action ?? null,
    entry.resource ?? null,
  ];
  return JSON.stringify(packed);
}

export function unpackEntry(line: string): AuditEntry {
  const packed = JSON.parse(line) as Packed;
  const [time, requestId, service, operation, status, sourceIp, user, accessKeyId, action, resource] = packed;
  return {
    time,
    requestId,
    service,
    operation,
    status,
    sourceIp,
    ...(user !== null && { user }),
    ...(accessKeyId !== null && { accessKeyId }),
    ...(action !== null && { action }),
    ...(resource !== null && { resource }),
  };
}
