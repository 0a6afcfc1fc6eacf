import { type ErrorFormat, errorAnswers, errorExamples } from './error-answers.ts';
import { HEADERS } from './headers.ts';
import type { JsonSchema } from './json-type.ts';
import { LOW_CREDITS_WEBHOOK } from './low-credits-webhook.ts';
import { MODEL_OPERATIONS } from './model-operations.ts';
import { nameSchemas } from './named-schemas.ts';
import type { Answer, Example, Media, Operation, RouteDocs } from './operation.ts';

type Methods = Record<string, Operation>;
type Paths = Record<string, Methods>;

export interface Document {
  readonly [part: string]: unknown;
  readonly tags?: readonly { readonly name: string }[];
  readonly components?: Readonly<Record<string, unknown>>;
  readonly paths?: Paths;
}

/**
 * Completes the document that Fastify makes from the schemas of the routes: adds the model calls, refusals and
 * examples, gives schemas names, and sorts the paths by tag.
 */
export function finish(document: Document): Document {
  const schemas: Record<string, JsonSchema> = {};
  const order = (document.tags ?? []).map(({ name }) => name);
  const paths = mapValues(byTag(described(document.paths ?? {}), order), (methods) =>
    mapValues(methods, (operation) => nameSchemas(complete(operation), schemas)),
  );
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

/** An operation with its `x-docs` replaced by the refusals, examples and headers that they stand for. */
function complete({ 'x-docs': docs, ...operation }: Operation): Operation {
  if (docs === undefined) return operation;
  const { errorFormat = 'openai', requests, isBodyOptional } = docs;
  const { requestBody } = operation;
  const responses = {
    ...errorAnswers(docs, '4XX' in operation.responses),
    ...mapValues(operation.responses, (answer, status) => withExample(answer, status, docs)),
  };
  return {
    ...operation,
    ...(requestBody && requests
      ? {
          requestBody: {
            ...requestBody,
            ...(isBodyOptional ? { required: false } : {}),
            content: mapValues(requestBody.content, exemplified(requests)),
          },
        }
      : {}),
    responses: mapValues(responses, (answer) => identified(answer, errorFormat)),
  };
}

function withExample(answer: Answer, status: string, docs: RouteDocs): Answer {
  const value = docs.otherAnswers?.[status] ?? (status.startsWith('2') ? docs.answer : undefined);
  const media = answer.content?.['application/json'];
  if (value === undefined || !media) return answer;
  const shown = exemplified({ answer: { value } })(media);
  return { ...answer, content: { ...answer.content, 'application/json': shown } };
}

function exemplified(examples: Readonly<Record<string, Example>>): (media: Media) => Media {
  return (media) => ({ ...media, examples });
}

/**
 * An answer with the headers of every answer: `x-request-id`, on Anthropic's routes `request-id` too (specification
 * section 3).
 */
function identified(answer: Answer, format: ErrorFormat): Answer {
  const names = format === 'anthropic' ? ['x-request-id', 'request-id'] : ['x-request-id'];
  const ids = names.map((name) => [name, { $ref: `#/components/headers/${name}` }]);
  return { ...answer, headers: { ...Object.fromEntries(ids), ...answer.headers } };
}

/** The operations, with those of model calls taken from MODEL_OPERATIONS, because Fastify has no schemas for them. */
function described(paths: Paths): Paths {
  return mapValues(paths, (methods, path) =>
    mapValues(
      methods,
      (generated, method) => MODEL_OPERATIONS[`${method.toUpperCase()} ${path}`] ?? generated,
    ),
  );
}

function byTag(paths: Paths, order: readonly string[]): Paths {
  const rank = ([, methods]: [string, Methods]) => {
    const [operation] = Object.values(methods);
    return order.indexOf(operation?.tags?.[0] ?? '');
  };
  return Object.fromEntries(Object.entries(paths).sort((a, b) => rank(a) - rank(b)));
}

function mapValues<Value, Mapped>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value, key: string) => Mapped,
): Record<string, Mapped> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));
}
