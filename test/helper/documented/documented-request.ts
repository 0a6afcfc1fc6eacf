import { silentWav } from '../start/media-gateway.ts';
import type { Described, Media } from './api-document.ts';
import type { Values } from './documented-calls.ts';

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

/** Headers that carry a credential by `scheme`, one of the alternatives of an operation's security. */
export function credential(scheme: string | undefined, key: string, adminToken: string): Values {
  switch (scheme) {
    case undefined:
      return {};
    case 'xApiKey':
      return { 'x-api-key': key };
    case 'adminToken':
      return { authorization: `Bearer ${adminToken}` };
    default:
      return { authorization: `Bearer ${key}` };
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
