import { ApiError, createClient } from '@svc/client';
import type { components, FetchPayload, FetchStream, Sender } from '@svc/client';
import { sendFromPage } from './send-from-page.ts';
import { askLogin } from './session.ts';

type Schemas = components['schemas'];
export type Repository = Schemas['Repository'];
export type Commit = Schemas['Commit'];
export type Ref = Schemas['Ref'];
export type Diff = Schemas['Diff'];
export type ObjectStats = Schemas['ObjectStats'];
export type RefMove = Schemas['RefMove'];
export type DeletedRef = Schemas['DeletedRef'];
export type DeletedRepository = Schemas['DeletedRepository'];
export type Alias = Schemas['Alias'];
export type AliasMove = Schemas['AliasMove'];
export type BucketBinding = Schemas['BucketBinding'];
export type Subscription = Schemas['Subscription'];
export type Delivery = Schemas['Delivery'];
export type PullRequest = Schemas['PullRequest'];
export type Conflict = Schemas['Conflict'];
export type ConflictList = Schemas['ConflictList'];
export type MergeConflicts = Schemas['MergeConflicts'];
export type Resolution = Schemas['Resolution'];
export type ResolutionObject = Schemas['ResolutionObject'];
export type ActionRun = Schemas['ActionRun'];
export type HookRun = Schemas['HookRun'];
export type User = Schemas['User'];
export type Group = Schemas['Group'];
export type Policy = Schemas['Policy'];
export type Statement = Schemas['Statement'];
export type Simulation = Schemas['Simulation'];
export type Session = Schemas['Session'];
export type AuditEntry = Schemas['AuditEntry'];
export type Credentials = Schemas['Credentials'];
export type CredentialsWithSecret = Schemas['CredentialsWithSecret'];
export type StorageConfig = Schemas['StorageConfig'];
export type Config = Schemas['Config'];
export type LoginConfig = Schemas['LoginConfig'];
export type Page<Item> = { pagination: Schemas['Pagination']; results: Item[] };

export const clientName = `svc-webui/${__SVC_VERSION__}`;

const loggedOutMessage = 'error authenticating request';

/** Nobody is logged in. Any other 401 is a missing permission. */
export function isLoggedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401 && error.message === loggedOutMessage;
}

/** Sends a request; when the session has ended it asks for a login and sends the same request once more. */
const sendInSession: Sender<FetchPayload, FetchStream> = async (request) => {
  const answer = await sendFromPage(request);
  if (answer.status !== 401 || !saysLoggedOut(await answer.text())) return answer;
  return (await askLogin('ended')) ? await sendFromPage(request) : answer;
};

function saysLoggedOut(text: string): boolean {
  try {
    return (JSON.parse(text) as { message?: unknown }).message === loggedOutMessage;
  } catch {
    // Not our API's answer: a proxy's page says nothing about sessions.
    return false;
  }
}

/** The client of every page. */
export const client = createClient({ endpoint: '', clientName, sender: sendInSession });

/** For login and start-up, where having no session is an answer, not an interruption. */
export const anonymousClient = createClient({ endpoint: '', clientName, sender: sendFromPage });

export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}
