import { groupSchema } from './groups.ts';
import { userSchema } from './users.ts';

export const listSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

export function serviceProviderConfig(maxResults: number): object {
  const [yes, no] = [{ supported: true }, { supported: false }];
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
    patch: yes,
    bulk: { ...no, maxOperations: 0, maxPayloadSize: 0 },
    filter: { ...yes, maxResults },
    changePassword: no,
    sort: no,
    etag: no,
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'The token of auth.scim.token',
        primary: true,
      },
    ],
  };
}

export function resourceTypes(base: string): readonly Named[] {
  return [
    resourceType('User', '/Users', userSchema, base),
    resourceType('Group', '/Groups', groupSchema, base),
  ];
}

function resourceType(id: string, endpoint: string, schema: string, base: string): Named {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    id,
    name: id,
    endpoint,
    schema,
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${id}` },
  };
}

interface Named {
  readonly id: string;
  readonly [other: string]: unknown;
}

const text = {
  type: 'string',
  multiValued: false,
  required: false,
  caseExact: false,
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: 'none',
};

/** The attributes that are kept. */
export function schemas(base: string): readonly Named[] {
  const userAttributes = [
    { ...text, name: 'userName', required: true, uniqueness: 'server' },
    { ...text, name: 'externalId', caseExact: true },
    { ...text, name: 'displayName' },
    {
      ...text,
      name: 'name',
      type: 'complex',
      subAttributes: [
        { ...text, name: 'givenName' },
        { ...text, name: 'familyName' },
      ],
    },
    {
      ...text,
      name: 'emails',
      type: 'complex',
      multiValued: true,
      subAttributes: [
        { ...text, name: 'value' },
        { ...text, name: 'type' },
        { ...text, name: 'primary', type: 'boolean' },
      ],
    },
    { ...text, name: 'active', type: 'boolean' },
  ];
  const groupAttributes = [
    { ...text, name: 'displayName', required: true, mutability: 'immutable', uniqueness: 'server' },
    { ...text, name: 'externalId', caseExact: true },
    {
      ...text,
      name: 'members',
      type: 'complex',
      multiValued: true,
      subAttributes: [
        { ...text, name: 'value', mutability: 'immutable' },
        { ...text, name: 'display', mutability: 'readOnly' },
      ],
    },
  ];
  return [
    schema(userSchema, 'User', userAttributes, base),
    schema(groupSchema, 'Group', groupAttributes, base),
  ];
}

function schema(id: string, name: string, attributes: readonly object[], base: string): Named {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    id,
    name,
    attributes,
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${id}` },
  };
}
