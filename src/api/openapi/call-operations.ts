import { CODEX_ROUTES } from '../../gateway/codex.ts';
import { ENDPOINTS, type Endpoint } from '../../gateway/endpoints.ts';
import { describeMember } from '../../metering/members.ts';
import { CALL_DOCS, type CallDocs } from './call-docs.ts';
import { CHARGE_HEADER, limitHeaders } from './headers.ts';
import type { JsonSchema } from './json-type.ts';
import {
  type Answer,
  BY_KEY,
  JOB_REFUSALS,
  type Media,
  MODEL_CALL_REFUSALS,
  type Operation,
} from './operation.ts';

const REFERENCES = {
  openai: { of: 'OpenAI', url: 'https://platform.openai.com/docs/api-reference/' },
  anthropic: { of: 'Anthropic', url: 'https://docs.anthropic.com/en/api/' },
} as const;

const JSON_BODY = 'application/json';
const FORM = 'multipart/form-data';
const BODY_TYPES: Readonly<Record<Endpoint['body'], readonly string[]>> = {
  json: [JSON_BODY],
  form: [FORM],
  audio: [FORM],
  either: [JSON_BODY, FORM],
};

const CODEX =
  'Codex (`originator: codex…`) repeats 401, 402 and 403, so it gets 429 `usage_limit_reached` in place of 402, 404 ' +
  '`model_not_found` in place of `model_not_allowed`, and 400 `invalid_request` in place of others.';

const MODEL: JsonSchema = {
  type: 'string',
  minLength: 1,
  description: 'Name of a model from `GET /v1/models`, of the category and format of this route.',
};

const BYTES: JsonSchema = { type: 'string', format: 'binary' };
const TEXT: Media = { schema: { type: 'string' } };
const OBJECT: Media = {
  schema: { type: 'object', additionalProperties: true, description: "The provider's own fields." },
};
const EVENTS: Media = { schema: { type: 'string', description: 'Events of the provider.' } };

/** Operation of a forwarded call: the fields of its table, and a link to the vendor's page for the others. */
function callOperation(endpoint: Endpoint, docs: CallDocs): Operation {
  const { path, format, body } = endpoint;
  const { request, streams } = docs;
  const limits = limitHeaders(format);
  const isSentStreamed = streams && body === 'json' && endpoint.members?.has('stream');
  return {
    ...named(endpoint, { ...docs, description: descriptionOf(endpoint, docs) }),
    requestBody: {
      required: true,
      content: Object.fromEntries(
        BODY_TYPES[body].map((type) => [type, { schema: schemaOf(endpoint, type) }]),
      ),
    },
    responses: answers(answerTypes(endpoint, docs), limits, CHARGE_HEADER),
    'x-docs': {
      limitHeaders: limits,
      refusals: CODEX_ROUTES.has(path)
        ? [...MODEL_CALL_REFUSALS, 'usage_limit_reached']
        : MODEL_CALL_REFUSALS,
      errorFormat: format,
      requests: {
        example: { value: request },
        ...(isSentStreamed && { streamed: { value: { ...request, stream: true } } }),
      },
    },
  };
}

type Named = Pick<CallDocs, 'operationId' | 'summary' | 'description' | 'reference'>;

function named({ format }: Endpoint, { operationId, summary, description, reference }: Named) {
  const { of, url } = REFERENCES[format];
  return {
    operationId,
    tags: ['Models'],
    summary,
    ...(description && { description }),
    externalDocs: { description: `${of}'s reference`, url: `${url}${reference}` },
    security: BY_KEY,
  };
}

function descriptionOf({ path, format, members, isCounting }: Endpoint, { description }: CallDocs): string {
  const parts = [
    description,
    members ? undefined : "Costs the model's `request` price, whatever you send.",
    isCounting ? 'Does not count in rate limits.' : undefined,
    format === 'anthropic' ? "Errors have Anthropic's shape." : undefined,
    CODEX_ROUTES.has(path) ? CODEX : undefined,
  ];
  return parts.filter(Boolean).join(' ');
}

function schemaOf({ members = new Map() }: Endpoint, type: string): JsonSchema {
  const others = [...members].filter(([name]) => name !== 'model');
  const fields = others.map(([name, member]) => {
    const text = describeMember(member);
    const description = `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
    return [name, { ...(member.isFile && type === FORM && BYTES), description }];
  });
  return {
    type: 'object',
    required: ['model'],
    properties: { model: MODEL, ...Object.fromEntries(fields) },
    additionalProperties: true,
  };
}

function answerTypes({ body, answersBytes }: Endpoint, { streams }: CallDocs): Record<string, Media> {
  return {
    ...(answersBytes ? { 'audio/*': { schema: BYTES } } : { [JSON_BODY]: OBJECT }),
    // By the `response_format` of a transcription.
    ...(body === 'audio' && { 'text/plain': TEXT, 'text/vtt': TEXT }),
    ...(streams && { 'text/event-stream': EVENTS }),
  };
}

/** Successful answers, and the provider's own errors, which the gateway passes on. */
function answers(content: Record<string, Media>, limits = {}, more = {}): Record<string, Answer> {
  return {
    200: { description: "The provider's answer.", headers: { ...more, ...limits }, content },
    '4XX': {
      description:
        "The provider's own error, with its body; costs nothing. It can have one of the statuses listed here. (The " +
        "provider's 401 and 403 become 502 `upstream_auth_failed`.)",
      headers: limits,
    },
    '5XX': { description: "The provider's own error, with its body; costs nothing.", headers: limits },
  };
}

interface JobDocs extends Named {
  readonly description: string;
  readonly content: Record<string, Media>;
  readonly query?: Readonly<Record<string, unknown>>;
}

/** Requests about a job, by method and path below it. */
const JOB_DOCS: Readonly<Record<string, JobDocs>> = {
  'GET ': {
    operationId: 'readVideo',
    summary: 'Read the state of a video',
    description: 'If the answer reports that the job failed, the charge has been refunded.',
    reference: 'videos/retrieve',
    content: { [JSON_BODY]: OBJECT },
  },
  'DELETE ': {
    operationId: 'deleteVideo',
    summary: 'Delete a video',
    description: 'Deletes the video at the provider. The charge stays, unless the job failed.',
    reference: 'videos/delete',
    content: { [JSON_BODY]: OBJECT },
  },
  'GET /content': {
    operationId: 'readVideoContent',
    summary: 'Download a video',
    description: 'Passes the content on as it arrives.',
    reference: 'videos/content',
    content: { 'video/*': { schema: BYTES }, 'image/*': { schema: BYTES } },
    query: {
      in: 'query',
      name: 'variant',
      description: "What to download, in the provider's terms. Default: the video.",
      schema: { type: 'string' },
      example: 'thumbnail',
    },
  },
};

const JOB_ID = {
  in: 'path',
  name: 'id',
  required: true,
  description: '`id` of the job.',
  schema: { type: 'string' },
  example: 'video_1',
};
const OF_JOBS =
  'Costs nothing, but counts in limits of calls, except tokens. A video of another account gets 404.';

/** Operations of requests about the jobs of an endpoint: forwarded, but not model calls. */
function jobOperations(endpoint: Endpoint): [string, Operation][] {
  return Object.entries(JOB_DOCS).map(([request, docs]) => {
    const { description, content, query } = docs;
    const [method, below = ''] = request.split(' ');
    return [
      `${method} ${endpoint.path}/{id}${below}`,
      {
        ...named(endpoint, { ...docs, description: `${description} ${OF_JOBS}` }),
        parameters: query ? [JOB_ID, query] : [JOB_ID],
        responses: answers(content),
        'x-docs': { refusals: JOB_REFUSALS },
      },
    ];
  });
}

/** Operations of all routes that forward to providers, by `METHOD path`. */
export const CALL_OPERATIONS: Readonly<Record<string, Operation>> = Object.fromEntries(
  ENDPOINTS.flatMap((endpoint) => [
    [`${endpoint.method} ${endpoint.path}`, callOperation(endpoint, CALL_DOCS[endpoint.path])] as const,
    ...(endpoint.makesJob ? jobOperations(endpoint) : []),
  ]),
);
