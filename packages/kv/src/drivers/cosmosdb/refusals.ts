import { KvError } from '../../errors.ts';

/** What the service said instead of doing it. */
export interface Refusal {
  readonly status: number;
  readonly substatus: string;
  readonly message: string;
}

/** The container itself is missing, not the document. */
const ownerMissing = '1003';
/** This region takes no writes any more: a failover is under way. */
const writesForbidden = '3';

export type RefusalClass = 'answer' | 'throttled' | 'conflict' | 'server' | 'credentials' | 'other';

export function classOf({ status, substatus }: Refusal): RefusalClass {
  if (status === 404) return substatus === ownerMissing ? 'other' : 'answer';
  if (status === 409 || status === 412) return 'answer';
  if (status === 429) return 'throttled';
  if (status === 449) return 'conflict';
  if (status === 403) return substatus === writesForbidden ? 'server' : 'credentials';
  if (status === 401) return 'credentials';
  return status >= 500 || status === 408 || status === 410 ? 'server' : 'other';
}

export function refusalError(refusal: Refusal): KvError {
  const { status, message } = refusal;
  const said = `cosmosdb: status ${status}${message === '' ? '' : `: ${message}`}`;
  switch (classOf(refusal)) {
    case 'throttled':
      return new KvError('slow_down', `${said}; raise the throughput of the container or send less`);
    case 'conflict':
      return new KvError('slow_down', `${said}; other writers held the documents all the time`);
    case 'server':
      return new KvError('unavailable', said);
    case 'credentials':
      return new KvError(
        'driver_configuration',
        `${said}; check database.cosmosdb.key, or the roles of the cloud identity on the account`,
      );
    case 'answer':
    case 'other':
      if (status === 413) {
        return new KvError('invalid_change', `${said}; a document and a change have at most 2 MB there`);
      }
      return new KvError(
        status === 404 ? 'unavailable' : 'driver_configuration',
        status === 404
          ? `${said}; the container of database.cosmosdb.container is gone: restore it, or start the server again to create it`
          : said,
      );
  }
}
