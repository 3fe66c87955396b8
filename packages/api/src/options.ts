import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ActionHooks } from '@svc/actions';
import type { AuditLog, Auth, Requirement } from '@svc/auth';
import type { Addition, Engine, Resolution } from '@svc/engine';
import type { EventLog, EventStreams, Subscriptions } from '@svc/events';
import type { BodyMemory } from '@svc/http';

/** What the API says of one object store. */
export interface StorageFacts {
  readonly type: string;
  readonly storageId: string;
  readonly description: string;
  readonly namespaceExample: string;
  readonly namespaceValidityRegex: string;
  readonly importValidityRegex: string;
  readonly defaultNamespacePrefix: string;
  readonly preSignSupport: boolean;
  readonly preSignSupportUi: boolean;
  readonly preSignMultipartUpload: boolean;
  readonly importSupport: boolean;
}

export interface LoginFacts {
  /** `''`, or where the identity provider's login starts. */
  readonly loginUrl: string;
  /** `select`: the login page offers it beside access keys. */
  readonly loginUrlMethod: 'none' | 'select';
  readonly loginFailedMessage: string;
  readonly loginCookieNames: readonly string[];
  readonly logoutUrl: string;
  readonly usernamePlaceholder?: string | undefined;
  readonly passwordPlaceholder?: string | undefined;
  readonly fallbackLoginUrl?: string | undefined;
  readonly fallbackLoginLabel?: string | undefined;
}

export interface CustomViewer {
  readonly name: string;
  readonly url: string;
  readonly extensions?: readonly string[] | undefined;
  readonly contentTypes?: readonly string[] | undefined;
}

/** Facts of the installation that operations report. */
export interface InstallationFacts {
  readonly version: string;
  readonly latestVersion?: string | undefined;
  readonly upgradeRecommended?: boolean | undefined;
  readonly upgradeUrl?: string | undefined;
  /** The only store, or the one that repositories without a storage id use; undefined when there is none. */
  readonly storage: StorageFacts | undefined;
  /** Every store when several are configured, else empty. */
  readonly storages: readonly StorageFacts[];
  readonly login: LoginFacts;
  /** Whether hooks run. */
  readonly actionsEnabled: boolean;
  readonly customViewers: readonly CustomViewer[];
}

/** One finished request, for the access log, the audit log and the metrics. */
export interface FinishedRequest {
  readonly requestId: string;
  readonly operationId: string;
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly durationMs: number;
  /** When the head of the answer left, counted from the start; undefined when none did. */
  readonly firstByteMs: number | undefined;
  readonly sentBytes: number;
  readonly username: string | undefined;
  readonly authMethod: string | undefined;
  readonly accessKeyId: string | undefined;
  readonly clientIp: string;
  /** Path parameters such as `repository` and `branch`. */
  readonly params: Readonly<Record<string, string>>;
  /** What it needed; undefined when every user may, or it was refused before that was known. */
  readonly requirement?: Requirement | undefined;
  /** Why the caller was refused for lack of a permission. */
  readonly denied: string | undefined;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** The API tells its surroundings what happened; nothing it does depends on the answers. */
export interface ApiObserver {
  /** Once per routed request, before anything else; `finished` follows. */
  started?(operationId: string): void;
  /** Once per routed request, after the answer was sent or the client went away (status 499). */
  finished?(request: FinishedRequest): void;
  /** An internal failure. The caller sees only the request id. */
  failed?(error: unknown, request: { readonly requestId: string; readonly operationId: string }): void;
  /** Counts that clients report. */
  counted?(events: readonly { class: string; name: string; count: number }[]): void;
}

export interface EventsOptions {
  readonly log: EventLog;
  readonly streams: EventStreams;
  /** Awaited before the log is read: what happened before shall be in it. */
  readonly follow?: (() => Promise<void>) | undefined;
  /** Absent while webhooks are switched off. */
  readonly subscriptions?: Subscriptions | undefined;
  readonly installationId: string;
}

/** Makes the appends of the source to a table again on the table of the destination, for a merge to take. */
export type AppendTable = (options: {
  readonly repository: string;
  readonly source: string;
  readonly destination: string;
  /** Of the object that says which metadata of the table is the newest. */
  readonly path: string;
  readonly ensure: (requirement: Requirement) => Promise<void>;
}) => Promise<{ readonly resolution: Resolution; readonly additions: readonly Addition[] }>;

export interface ApiOptions {
  readonly engine: Engine;
  readonly auth: Auth;
  /** Runs of hooks; without it nobody can ask for them. */
  readonly actions?:
    | Pick<ActionHooks, 'runs' | 'readLog' | 'findRunning' | 'listRunning' | 'rerun'>
    | undefined;
  /** The log of events; without it nobody can read it. */
  readonly events?: EventsOptions | undefined;
  /** Who did what when; without it nobody can ask. */
  readonly audit?: AuditLog | undefined;
  /** Asked per request: facts such as the recommended version change while the server runs. */
  readonly installation: () => InstallationFacts;
  readonly observer?: ApiObserver | undefined;
  /** Settles the conflict of an Iceberg table; without it nobody can ask for that. */
  readonly appendTable?: AppendTable | undefined;
  /** Memory for bodies being collected: from authenticated callers and from anybody. Without it there is no limit. */
  readonly bodyMemory?: { readonly callers: BodyMemory; readonly strangers: BodyMemory } | undefined;
}
