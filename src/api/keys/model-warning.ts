import type { FastifyReply } from 'fastify';
import { type Catalog, modelOf } from '../../domain/catalog.ts';
import type { ObjectSchema } from '../openapi/json-type.ts';

const HEADER = 'x-tollgate-warning';
/** Most names in the header, and below it most characters of each name, so that the header stays small. */
const MOST_NAMES = 5;
const LONGEST_NAME = 60;

/** The settings with the names of models in place of their aliases: the stored list does not change with the catalog. */
export function withSlugs<Settings extends { readonly allowedModels?: readonly string[] }>(
  settings: Settings,
  catalog: Catalog,
): Settings {
  const { allowedModels } = settings;
  if (!allowedModels?.some((name) => modelOf(catalog, name))) return settings;
  const slugs = allowedModels.map((name) => modelOf(catalog, name)?.slug ?? name);
  return { ...settings, allowedModels: [...new Set(slugs)] };
}

/**
 * Adds a header to the answer that lists the `allowed_models` of a request that are not in the catalog. They are most
 * likely misspelt, but are not refused, because a model may be added later.
 */
export function warnOfModels(
  reply: FastifyReply,
  catalog: Catalog,
  { allowedModels = [] }: { readonly allowedModels?: readonly string[] },
): void {
  const unknown = allowedModels.filter((slug) => !catalog.has(slug));
  if (unknown.length === 0) return;
  const names = unknown.slice(0, MOST_NAMES).map(quoted).join(', ');
  const more = unknown.length > MOST_NAMES ? ` and ${unknown.length - MOST_NAMES} more` : '';
  const verb = unknown.length === 1 ? 'is' : 'are';
  reply.header(HEADER, `allowed_models: ${names}${more} ${verb} not in the catalog`);
}

/** A name as JSON in ASCII, which is what headers can carry. */
function quoted(slug: string): string {
  const shown = slug.length > LONGEST_NAME ? `${slug.slice(0, LONGEST_NAME)}…` : slug;
  return JSON.stringify(shown).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Schema of an answer that may carry the warning. */
export function mayWarn(schema: ObjectSchema) {
  return {
    description: String(schema.description),
    headers: {
      [HEADER]: {
        type: 'string',
        description:
          'Which names in the `allowed_models` of the request are not in the catalog, if any. They are stored: a model may ' +
          'be added later.',
        examples: ['allowed_models: "gpt-0" is not in the catalog'],
      },
    },
    content: { 'application/json': { schema } },
  };
}
