import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

export interface Media {
  readonly schema?: Record<string, unknown>;
  readonly examples?: Record<string, { readonly value?: unknown; readonly $ref?: string }>;
}
export interface Header {
  readonly required?: boolean;
  readonly schema?: object;
  readonly $ref?: string;
}
export interface Answer {
  readonly description: string;
  readonly headers?: Record<string, Header>;
  readonly content?: Record<string, Media>;
}
export interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Record<string, unknown>;
  readonly example?: unknown;
}
export interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Record<string, readonly string[]>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Record<string, Media> };
  readonly responses: Record<string, Answer>;
}
export interface ApiDocument {
  readonly openapi: string;
  readonly info: Record<string, unknown>;
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
  readonly webhooks: Record<string, Record<string, Operation>>;
  readonly components: Record<string, Record<string, Record<string, unknown>>>;
}

/** An operation with its route, such as `GET /api/keys/`, and its JSON pointer in the document. */
export interface Described extends Operation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly pointer: string;
}

export async function readDocument(url: string): Promise<ApiDocument> {
  const response = await fetch(`${url}/openapi.json`);
  return (await response.json()) as ApiDocument;
}

export function operationsOf(document: ApiDocument): Described[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      pointer: pointerTo('paths', path, method),
    })),
  );
}

export function pointerTo(...steps: readonly string[]): string {
  const escaped = steps.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')));
  return `#/${escaped.join('/')}`;
}

/** Validates a value by the schema at a JSON pointer of the document. Returns the fault; undefined if there is none. */
export type Validate = (pointer: string, value: unknown) => string | undefined;

export function validatorOf(document: ApiDocument): Validate {
  // Compiles shared parts once, not in each schema that refers to them. Inlined, they took a sixth of the processor
  // time of test/api.
  const ajv = new Ajv2020({ strict: false, allErrors: true, inlineRefs: false });
  formats.default(ajv);
  // Any bytes are valid.
  ajv.addFormat('binary', true);
  ajv.addSchema(sealed(document), 'api');
  return (pointer, value) => {
    const validate = ajv.getSchema(`api${pointer}`);
    if (!validate) throw new Error(`the document has no schema at ${pointer}`);
    return validate(value) ? undefined : `${pointer}: ${ajv.errorsText(validate.errors)}`;
  };
}

/** Closes every object of our own in the document, so that an undocumented member of an answer is a fault. */
function sealed(document: ApiDocument): ApiDocument {
  const text = JSON.stringify(document, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('properties' in value) || !('type' in value))
      return value;
    return { additionalProperties: false, ...value };
  });
  return JSON.parse(text) as ApiDocument;
}

/** Differences between an answer and the document; empty if there are none. */
export async function faultsOf(
  document: ApiDocument,
  validate: Validate,
  operation: Described,
  response: Response,
): Promise<string[]> {
  const bytes = Buffer.from(await response.arrayBuffer());
  const status = String(response.status);
  const key = [status, `${status[0]}XX`].find((known) => known in operation.responses);
  const answer = key === undefined ? undefined : operation.responses[key];
  if (key === undefined || answer === undefined) return [`status ${status} is not described: ${bytes}`];
  const at = `${operation.pointer}/responses/${key}`;
  const headers = headerFaults(document, validate, at, answer, response.headers);
  if (answer.content === undefined) return headers;
  const type = (response.headers.get('content-type') ?? '').split(';', 1)[0] ?? '';
  const known = [type, `${type.split('/', 1)[0]}/*`].find((media) => answer.content?.[media]);
  if (known === undefined) return [...headers, `${status}: the media type ${type} is not described`];
  const schema = `${at}/content/${pointerTo(known).slice(2)}/schema`;
  const value: unknown =
    type === 'application/json' ? JSON.parse(bytes.toString()) : bytes.toString('latin1');
  const fault = validate(schema, value);
  const codes = Object.keys(answer.content[known]?.examples ?? {});
  const code = (value as { error?: { code?: string } }).error?.code;
  const unknown = code !== undefined && !codes.includes(code) ? [`${status}: ${code} is not described`] : [];
  return [...headers, ...(fault ? [fault] : []), ...unknown];
}

function headerFaults(
  document: ApiDocument,
  validate: Validate,
  at: string,
  answer: Answer,
  sent: Headers,
): string[] {
  return Object.entries(answer.headers ?? {}).flatMap(([name, described]) => {
    const shared = described.$ref?.split('/').at(-1);
    const header = (shared ? document.components.headers?.[shared] : described) as Header | undefined;
    const value = sent.get(name);
    if (value === null) return header?.required ? [`the header ${name} is missing`] : [];
    const pointer = shared ? pointerTo('components', 'headers', shared) : `${at}/headers/${name}`;
    const isNumber = (header?.schema as { type?: string } | undefined)?.type === 'integer';
    const fault = validate(`${pointer}/schema`, isNumber ? Number(value) : value);
    return fault ? [fault] : [];
  });
}
