import type { TSchema } from 'typebox';
import { models } from './models.ts';
import type { Operation, ResponseSpec } from './operation.ts';
import { operations } from './operations.ts';
import { actionsIn } from './requirement-template.ts';

export const basePath = '/api/v1';

export interface OpenApiDocument {
  readonly openapi: '3.0.3';
  readonly info: { readonly title: string; readonly description: string; readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  readonly security: readonly Record<string, readonly string[]>[];
  readonly paths: Record<string, Record<string, OpenApiOperation>>;
  readonly components: {
    readonly securitySchemes: Record<string, object>;
    readonly schemas: Record<string, JsonSchema>;
  };
  /** The actions that policies can allow or deny. */
  readonly 'x-actions': readonly string[];
}

export interface OpenApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly deprecated?: true;
  readonly security?: readonly [];
  readonly parameters?: readonly OpenApiParameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: MediaTypes };
  readonly responses: Record<string, OpenApiResponse>;
  readonly [extension: `x-${string}`]: unknown;
}

export interface OpenApiParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly allowEmptyValue?: true;
  readonly schema: JsonSchema;
}

export interface OpenApiResponse {
  readonly description: string;
  readonly headers?: Record<string, { readonly schema: JsonSchema }>;
  readonly content?: MediaTypes;
}

export type MediaTypes = Record<string, { readonly schema: JsonSchema }>;
export type JsonSchema = { readonly [keyword: string]: unknown };

const securitySchemes = {
  basic_auth: { type: 'http', scheme: 'basic' },
  jwt_token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  cookie_auth: { type: 'apiKey', in: 'cookie', name: 'access_token' },
  oidc_auth: { type: 'apiKey', in: 'cookie', name: 'oidc_auth_session' },
  saml_auth: { type: 'apiKey', in: 'cookie', name: 'saml_auth_session' },
};

const statusNames: Record<string, string> = {
  200: 'Done',
  201: 'Created',
  202: 'Accepted',
  204: 'Done, nothing to say',
  206: 'Part of the content',
  302: 'Found elsewhere',
  304: 'Not modified',
  400: 'The request is wrong',
  401: 'Not authenticated, or not allowed',
  403: 'Forbidden',
  404: 'Not found',
  409: 'Conflict',
  410: 'Gone',
  412: 'A precondition does not hold',
  416: 'No such range',
  429: 'Too many attempts; try again later',
  501: 'Not available in this installation',
  default: 'Any other refusal',
};

/** The OpenAPI 3.0.3 description of every operation. */
export function openApiDocument(version: string): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {};
  for (const operation of Object.values(operations) as Operation[]) {
    const method = operation.method.toLowerCase();
    (paths[operation.path] ??= {})[method] = describe(operation, operation.operationId);
    for (const alias of operation.aliases) {
      (paths[alias.path] ??= {})[method] = describe(operation, alias.operationId);
    }
  }
  const schemas: Record<string, JsonSchema> = {};
  for (const [name, schema] of Object.entries(models)) schemas[name] = definition(schema);
  return {
    openapi: '3.0.3',
    info: {
      title: 'svc',
      description: 'Version control for data in object stores',
      version,
    },
    servers: [{ url: basePath }],
    security: Object.keys(securitySchemes).map((name) => ({ [name]: [] })),
    paths,
    components: { securitySchemes, schemas },
    'x-actions': [
      ...new Set(Object.values<Operation>(operations).flatMap(({ requires }) => actionsIn(requires))),
    ].toSorted(),
  };
}

function describe(operation: Operation, operationId: string): OpenApiOperation {
  const parameters = parametersOf(operation);
  return {
    operationId,
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.deprecated && { deprecated: true }),
    ...(operation.internal && { 'x-internal': true }),
    ...(operation.experimental && { 'x-experimental': true }),
    // Reading methods are idempotent by definition.
    ...(operation.idempotent && !isRead(operation) && { 'x-idempotent': true }),
    'x-permission': operation.requires,
    ...(operation.requires.type === 'open' && { security: [] as const }),
    ...(parameters.length > 0 && { parameters }),
    ...(operation.body !== undefined && {
      requestBody: {
        required: operation.body.required && operation.body.shownOptional !== true,
        content: mediaTypes(operation.body.content),
      },
    }),
    responses: Object.fromEntries(
      Object.entries(operation.responses).map(([status, answer]) => [status, response(status, answer)]),
    ),
  };
}

function isRead({ method }: Operation): boolean {
  return method === 'GET' || method === 'HEAD';
}

function parametersOf(operation: Operation): OpenApiParameter[] {
  const parameters: OpenApiParameter[] = [];
  for (const [, name = ''] of operation.path.matchAll(/\{(\w+)\}/g)) {
    const schema = operation.params[name];
    parameters.push({
      name,
      in: 'path',
      required: true,
      schema: schema === undefined ? { type: 'string' } : reference(schema),
    });
  }
  for (const [name, schema] of Object.entries(operation.query)) {
    parameters.push(parameter(name, 'query', schema));
  }
  for (const [name, schema] of Object.entries(operation.headers)) {
    parameters.push(parameter(headerName(name), 'header', schema));
  }
  return parameters;
}

function parameter(name: string, place: 'query' | 'header', schema: TSchema): OpenApiParameter {
  const { allowEmptyValue, ...rest } = reference(schema);
  return {
    name,
    in: place,
    required: !('~optional' in schema),
    // The document can say this of query parameters only.
    ...(allowEmptyValue === true && place === 'query' && { allowEmptyValue: true }),
    schema: rest,
  };
}

/** Headers are kept in lower case as servers see them; documents show the usual spelling. */
function headerName(name: string): string {
  return name.replace(/(^|-)(\w)/g, (match) => match.toUpperCase());
}

function response(status: string, { content, headers = [] }: ResponseSpec): OpenApiResponse {
  return {
    description: statusNames[status] ?? '',
    ...(headers.length > 0 && {
      headers: Object.fromEntries(headers.map((name) => [name, { schema: { type: 'string' } }])),
    }),
    ...(Object.keys(content).length > 0 && { content: mediaTypes(content) }),
  };
}

function mediaTypes(content: Readonly<Record<string, TSchema>>): MediaTypes {
  return Object.fromEntries(
    Object.entries(content).map(([mediaType, schema]) => [mediaType, { schema: reference(schema) }]),
  );
}

/** A schema where it is used: named models become references. */
function reference(schema: TSchema | JsonSchema): JsonSchema {
  const { title } = schema as { title?: unknown };
  if (typeof title === 'string' && title in models) return { $ref: `#/components/schemas/${title}` };
  return definition(schema);
}

/** A schema as plain JSON without its name. */
function definition(schema: TSchema | JsonSchema): JsonSchema {
  const plain: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'title') continue;
    if (keyword === 'properties') {
      plain['properties'] = Object.fromEntries(
        Object.entries(value as Record<string, JsonSchema>).map(([name, property]) => [
          name,
          reference(property),
        ]),
      );
    } else if (keyword === 'items' || keyword === 'additionalProperties') {
      plain[keyword] = reference(value as JsonSchema);
    } else {
      plain[keyword] = value;
    }
  }
  return plain;
}
