import type { FastifyInstance, FastifyRequest } from 'fastify';
import { GatewayError } from '../domain/errors.ts';
import { foldName } from '../domain/field-names.ts';
import { measureJson, UNMEASURED_BYTES } from '../gateway/request/json/json-measure.ts';
import { scanMembers } from '../gateway/request/json-scan.ts';
import { checkEncoding } from '../gateway/request/request-head.ts';

/** Settings are small; a body above this is a mistake and is refused with 413. */
const BODY_LIMIT_BYTES = 1_048_576;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Makes a plugin's own scope speak the JSON of specification sections 2 and 7, whatever the rest of the app reads:
 * every other content type is 415, answers are never cached, and an empty body is no body (DELETE is often sent
 * with a JSON content type and nothing behind it).
 *
 * Requests are validated by the parse functions of the domain alone, which name the field and say what would be
 * right. Route schemas describe the same bodies in /openapi.json, and the app has no validator of its own: two would
 * be two truths. What the schemas forbid, the parse functions refuse: test/api/documented-bounds.test.ts.
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

/** Parses a body. A field that is there twice is refused: JSON.parse keeps the last, another reader may keep the first. */
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
