import type { DemoRequest } from './listen.ts';

/** Members of a JSON body, or fields of a form (text, or the bytes of a file); undefined if the body is neither. */
export async function fieldsOf(request: DemoRequest): Promise<Record<string, unknown> | undefined> {
  const type = request.headers['content-type'] ?? '';
  if (type.toLowerCase().startsWith('multipart/form-data')) return await formFields(request.body, type);
  try {
    const value: unknown = JSON.parse(request.body.toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

async function formFields(body: Buffer, type: string): Promise<Record<string, unknown> | undefined> {
  const fields: Record<string, unknown> = {};
  try {
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
    for (const [name, value] of form) {
      fields[name] = typeof value === 'string' ? value : Buffer.from(await value.arrayBuffer());
    }
  } catch {
    return undefined;
  }
  return fields;
}

/** A whole number above 0, from JSON or from a form. */
export function countIn(value: unknown): number | undefined {
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : undefined;
}
