import { OWN } from '../clients/people.ts';
import { ADMIN_TOKEN, type InProcessGateway, type TestAccount } from '../start/gateway-in-process.ts';
import { silentWav } from '../start/media-gateway.ts';
import type { Described, Media } from './api-document.ts';
import type { DocumentedCall, Values } from './documented-calls.ts';
import { operatorHeaders, ownerOf, sessionHeaders } from './documented-sessions.ts';

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** A request as documented, whose parts can be replaced before it is sent. */
export interface DocumentedRequest {
  readonly path: Values;
  readonly query?: string;
  readonly headers: Values;
  /** The example to send, or raw bytes to send in its place. */
  readonly body?: { readonly type: string; readonly example?: unknown; readonly raw?: string | Buffer };
}

/** The example bodies of an operation by name; one entry without a body if the operation takes none. */
export function bodiesOf(operation: Described): [name: string, body: DocumentedRequest['body']][] {
  const content = Object.entries(operation.requestBody?.content ?? {});
  if (content.length === 0) return [['no body', undefined]];
  return content.flatMap(([type, media]) =>
    Object.entries(media.examples ?? {}).map(([name, { value }]): [string, DocumentedRequest['body']] => [
      name,
      { type, example: value },
    ]),
  );
}

/** Security schemes by which an operation can be called; one that is undefined if it needs none. */
export function schemesOf({ security = [] }: Described): readonly (string | undefined)[] {
  return security.length > 0 ? security.map((scheme) => Object.keys(scheme)[0]) : [undefined];
}

/** Who calls: a key of an account, an owner of it by `session`, or an operator. */
export interface CallerOf {
  readonly world: InProcessGateway;
  readonly caller: TestAccount;
}

/** A request that the operation accepts, with one of its credentials and an example as its body. */
export async function requestOf(
  { world, caller }: CallerOf,
  operation: Described,
  call: DocumentedCall,
  scheme: string | undefined,
  body: DocumentedRequest['body'],
): Promise<DocumentedRequest> {
  const example = (body?.example ?? {}) as Readonly<Record<string, unknown>>;
  const replaced = await call.body?.(world, caller, example);
  return {
    path: (await call.path?.(world, caller)) ?? {},
    ...(call.query ? { query: call.query } : {}),
    headers: {
      ...(await credential(scheme, { world, caller }, operation)),
      ...(await call.headers?.(world, example)),
    },
    ...(body ? { body: replaced ? { ...body, example: { ...example, ...replaced } } : body } : {}),
  };
}

/** Headers that carry a credential by `scheme`. */
async function credential(
  scheme: string | undefined,
  { world, caller }: CallerOf,
  { path }: Described,
): Promise<Values> {
  switch (scheme) {
    case undefined:
      return OWN;
    case 'session':
      if (path.startsWith('/api/admin/')) return await operatorHeaders(world);
      return sessionHeaders((await ownerOf(world, caller)).cookie, caller.accountId);
    case 'xApiKey':
      return { 'x-api-key': caller.key };
    case 'adminToken':
      return { authorization: `Bearer ${ADMIN_TOKEN}` };
    default:
      return { authorization: `Bearer ${caller.key}` };
  }
}

export async function send(url: string, operation: Described, request: DocumentedRequest): Promise<Response> {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = request.path[name];
    if (value === undefined) throw new Error(`${operation.name}: no value for {${name}}`);
    return encodeURIComponent(value);
  });
  return await fetch(`${url}${path}${request.query ? `?${request.query}` : ''}`, {
    method: operation.method,
    ...written(operation, request),
  });
}

function written(operation: Described, { headers, body }: DocumentedRequest): RequestInit {
  if (body === undefined) return { headers };
  if (body.raw !== undefined) return { headers: { ...headers, 'content-type': body.type }, body: body.raw };
  if (body.type === 'multipart/form-data') return { headers, body: formOf(operation, body.example) };
  return { headers: { ...headers, 'content-type': body.type }, body: JSON.stringify(body.example) };
}

/** The example as a form, with a file if the schema has one. */
function formOf(operation: Described, example: unknown): FormData {
  const form = new FormData();
  const media: Media | undefined = operation.requestBody?.content['multipart/form-data'];
  const fields = (media?.schema?.properties ?? {}) as Record<string, { format?: string }>;
  for (const [name, value] of Object.entries(example as Record<string, string>)) {
    if (fields[name]?.format !== 'binary') form.set(name, value);
    else if (name === 'file') form.set(name, new Blob([silentWav(1)], { type: 'audio/wav' }), 'speech.wav');
    else form.set(name, new Blob([PIXEL], { type: 'image/png' }), 'picture.png');
  }
  return form;
}
