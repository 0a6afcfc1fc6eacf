import { errorAnswers, errorExamples } from './error-answers.ts';
import { HEADERS } from './headers.ts';
import { LOW_CREDITS_WEBHOOK } from './low-credits-webhook.ts';
import { MODEL_OPERATIONS } from './model-operations.ts';
import { nameSchemas } from './named-schemas.ts';
import type { Answer, Example, JsonSchema, Media, Operation } from './operation.ts';

type Methods = Record<string, Operation>;
type Paths = Record<string, Methods>;

export interface Document {
  readonly [part: string]: unknown;
  readonly tags?: readonly { readonly name: string }[];
  readonly components?: Readonly<Record<string, unknown>>;
  readonly paths?: Paths;
}

/**
 * The document as the schemas of the routes make it, completed: model calls in full, refusals written out, examples put
 * where clients look for them, schemas named, paths in the order of their tags.
 */
export function finish(document: Document): Document {
  const schemas: Record<string, JsonSchema> = {};
  const paths: Paths = {};
  const order = (document.tags ?? []).map(({ name }) => name);
  for (const [path, methods] of byTag(document.paths ?? {}, order)) {
    paths[path] = Object.fromEntries(
      Object.entries(methods).map(([method, generated]) => {
        const operation = MODEL_OPERATIONS[`${method.toUpperCase()} ${path}`] ?? generated;
        return [method, nameSchemas(complete(operation), schemas)];
      }),
    );
  }
  const webhooks = { low_credits: { post: nameSchemas(LOW_CREDITS_WEBHOOK, schemas) } };
  const examples = { ...errorExamples('openai'), ...errorExamples('anthropic') };
  const used = JSON.stringify(paths);
  return {
    ...document,
    paths,
    webhooks,
    components: {
      ...document.components,
      schemas,
      headers: HEADERS,
      examples: Object.fromEntries(
        Object.entries(examples).filter(([name]) => used.includes(`"#/components/examples/${name}"`)),
      ),
    },
  };
}

/** One operation without `x-docs`, all of which it then says itself. */
function complete({ 'x-docs': docs, ...operation }: Operation): Operation {
  if (docs === undefined) return operation;
  const { refusals, errorFormat = 'openai', requests, answer } = docs;
  const { requestBody } = operation;
  const responses = { ...errorAnswers(refusals, errorFormat), ...withExample(operation.responses, answer) };
  return {
    ...operation,
    ...(requestBody && requests
      ? { requestBody: { ...requestBody, content: mapValues(requestBody.content, exemplified(requests)) } }
      : {}),
    responses: mapValues(responses, identified),
  };
}

function withExample(responses: Record<string, Answer>, answer: unknown): Record<string, Answer> {
  if (answer === undefined) return responses;
  const example = { answer: { value: answer } };
  return mapValues(responses, (response, status) => {
    const media = response.content?.['application/json'];
    if (!status.startsWith('2') || !media) return response;
    return { ...response, content: { ...response.content, 'application/json': exemplified(example)(media) } };
  });
}

function exemplified(examples: Readonly<Record<string, Example>>): (media: Media) => Media {
  return (media) => ({ ...media, examples });
}

/** Contract section 3: every answer carries `x-request-id`. */
function identified(answer: Answer): Answer {
  return {
    ...answer,
    headers: { 'x-request-id': { $ref: '#/components/headers/x-request-id' }, ...answer.headers },
  };
}

function byTag(paths: Paths, order: readonly string[]): [string, Methods][] {
  const rank = (methods: Methods) => {
    const [operation] = Object.values(methods);
    return order.indexOf(operation?.tags?.[0] ?? '');
  };
  return Object.entries(paths).sort(([, a], [, b]) => rank(a) - rank(b));
}

function mapValues<Value, Mapped>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value, key: string) => Mapped,
): Record<string, Mapped> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));
}
