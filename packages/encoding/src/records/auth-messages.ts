import type { MessageOf, WithUnknownFields } from './fields.ts';
import {
  bytes,
  embedded,
  flag,
  integer,
  message,
  messageMap,
  repeated,
  text,
  texts,
  timestamp,
} from './fields.ts';

export const userMessage = message({
  createdAt: timestamp(1),
  username: text(2),
  friendlyName: text(3),
  email: text(4),
  encryptedPassword: bytes(5),
  source: text(6),
  externalId: text(7),
  tokensValidAfter: integer(1000),
});
export type UserData = MessageOf<typeof userMessage> & WithUnknownFields;

export const groupMessage = message({ createdAt: timestamp(1), displayName: text(2), description: text(3) });
export type GroupData = MessageOf<typeof groupMessage> & WithUnknownFields;

const conditionValuesMessage = message({ values: texts(1) });
const conditionMessage = message({ fields: messageMap(1, conditionValuesMessage) });

export const statementMessage = message({
  effect: text(1),
  action: texts(2),
  resource: text(3),
  condition: messageMap(4, conditionMessage),
  principal: texts(1000),
});
export type StatementData = MessageOf<typeof statementMessage>;

export const aclMessage = message({ permission: text(1), allRepositories: flag(2), repositories: texts(3) });

export const policyMessage = message({
  createdAt: timestamp(1),
  displayName: text(2),
  statements: repeated(3, statementMessage),
  acl: embedded(4, aclMessage),
});
export type PolicyData = MessageOf<typeof policyMessage> & WithUnknownFields;

export const credentialMessage = message({
  accessKeyId: text(1),
  secretAccessKeyEncryptedBytes: bytes(2),
  issuedDate: timestamp(3),
  userId: bytes(4),
  /** The key is bound to a bucket, which its view says. */
  hasView: flag(1000),
});
export type CredentialData = MessageOf<typeof credentialMessage> & WithUnknownFields;

export const tokenMessage = message({ tokenId: text(1), expiredAt: timestamp(2) });
export type TokenData = MessageOf<typeof tokenMessage>;
