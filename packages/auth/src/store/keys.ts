/** Keys of the partition `auth`. Ids hold no `/`; foreign ids that may are base64url. */
export const authPartition = Buffer.from('auth');

export const keys = {
  users: 'users/',
  groups: 'groups/',
  policies: 'policies/',
  user: (username: string) => `users/${username}`,
  group: (id: string) => `groups/${id}`,
  policy: (id: string) => `policies/${id}`,
  credential: (accessKeyId: string) => `credentials/${accessKeyId}`,
  userCredentials: (username: string) => `uCredentials/${username}/credentials/`,
  groupUsers: (group: string) => `gUsers/${group}/users/`,
  userGroups: (username: string) => `uGroups/${username}/groups/`,
  allUserPolicies: 'uPolicies/',
  allGroupPolicies: 'gPolicies/',
  userPolicies: (username: string) => `uPolicies/${username}/policies/`,
  groupPolicies: (group: string) => `gPolicies/${group}/policies/`,
  email: (address: string) => `emails/${address.toLowerCase()}`,
  externalId: (externalId: string) => `externalIds/${base64url(externalId)}`,
  externalPrincipal: (id: string) => `extPrincipals/${base64url(id)}`,
  userExternalPrincipals: (username: string) => `uExtPrincipals/${username}/`,
  expiredTokens: 'expiredTokens/',
  /** Logins of programs that wait for a person's approval. */
  cliLogins: 'cliLogins/',
  /** What an identity provider says of the people and groups it made. */
  provisionedUsers: 'provisioned/users/',
  provisionedNames: 'provisioned/names/',
  provisionedGroups: 'provisioned/groups/',
  allSessions: 'uSessions/',
  allEndedSessions: 'uEndedSessions/',
  sessions: (username: string) => `uSessions/${username}/`,
  endedSessions: (username: string) => `uEndedSessions/${username}/`,
  /** Of users that a service keeps: tokens issued before are refused. */
  endedTokens: (username: string) => `uEndedTokens/${username}`,
  /** Of keys that a service keeps: bound to a bucket. */
  boundKey: (accessKeyId: string) => `boundKeys/${accessKeyId}`,
  installationMetadata: 'installation_metadata/',
  metadata: (name: string) => `installation_metadata/${name}`,
  installationId: 'installation_id',
} as const;

export function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}
