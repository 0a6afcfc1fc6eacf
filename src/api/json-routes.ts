import type { FastifyInstance, FastifyRequest } from 'fastify';
import { GatewayError } from '../domain/errors.ts';
import { foldName } from '../domain/field-names.ts';
import { measureJson, UNMEASURED_BYTES } from '../gateway/request/json/json-measure.ts';
import { scanMembers } from '../gateway/request/json-scan.ts';
import { checkEncoding } from '../gateway/request/request-head.ts';

/** Most bytes of a body. Settings are small; a larger body is a mistake and is refused with 413. */
const BODY_LIMIT_BYTES = 1_048_576;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Sets up a plugin's scope for the JSON of specification sections 2 and 7, whatever the rest of the app reads: every
 * other content type is 415, answers are never cached, and an empty body counts as no body, because many clients send
 * DELETE with a JSON content type and nothing else.
 *
 * Requests are validated by the parse functions of the domain alone, which name the field and say what would be right.
 * Schemas of routes only describe the bodies in /openapi.json; test/api/documented-bounds.test.ts holds both together.
 */
export function speakJson(app: FastifyInstance): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer', bodyLimit: BODY_LIMIT_BYTES },
    async (request: FastifyRequest, body: Buffer) => {
      checkEncoding(request.headers);
      return body.length === 0 ? undefined : parseJson(body);
    },
  );
}

/**
 * Parses a body. Refuses repeated fields, because JSON.parse keeps the last of them and another reader may keep the
 * first.
 */
function parseJson(body: Buffer): unknown {
  if (body.length > UNMEASURED_BYTES) measureJson(body);
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(body);
    value = JSON.parse(text);
  } catch {
    throw new GatewayError(
      'invalid_json',
      'The request body is not valid JSON. Send a JSON object in UTF-8.',
    );
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const names = new Set(Object.keys(value).map(foldName));
  const { repeated } = scanMembers(text, names);
  if (repeated === undefined) return value;
  throw new GatewayError(
    'invalid_json',
    `The request body has the field "${repeated}" more than once. Send it once.`,
    repeated,
  );
}
